import type { ChainDetailView } from "@/api/types.gen";
import { money } from "@/pages/chains/outcome";
import { Section } from "@/parts/Section";
import { duration } from "@/time/format";
import { useNow } from "@/time/useNow";
import classes from "./chain.module.css";

/** What the chain has used of what it may use. */
export function Limits({ chain }: { chain: ChainDetailView }) {
  const now = useNow();
  const { limits } = chain;
  const passed = ((chain.closed_at ? Date.parse(chain.closed_at) : now) - Date.parse(chain.armed_at)) / 1_000;
  const whole = (value: number) => value.toLocaleString("en");
  return (
    <Section title="Limits" more="kept by the scheduler">
      <div className={classes.meters}>
        <Meter name="Depth" used={Math.max(0, ...chain.steps.map((step) => step.depth))} of={limits.max_depth} />
        <Meter name="Steps" used={chain.step_count} of={limits.max_children} />
        <Meter
          name="Retries of a step"
          used={Math.max(0, ...chain.steps.map((step) => step.attempt - 1))}
          of={limits.max_retries}
        />
        <Meter name="Lifetime" used={passed} of={limits.lifetime} words={duration} />
        {(limits.usd !== null || chain.usd > 0) && (
          <Meter name="Budget" used={chain.usd} of={limits.usd} words={money} />
        )}
        {(limits.tokens !== null || chain.tokens > 0) && (
          <Meter name="Tokens" used={chain.tokens} of={limits.tokens} words={whole} />
        )}
      </div>
    </Section>
  );
}

interface MeterProps {
  name: string;
  used: number;
  /** null: there is no limit. */
  of: number | null;
  words?: (value: number) => string;
}

export function Meter({ name, used, of, words = String }: MeterProps) {
  const part = of === null || of === 0 ? 0 : Math.min(1, used / of);
  return (
    <div className={classes.meter}>
      <div className={classes.meterWords}>
        <span>{name}</span>
        <b>
          {words(used)}
          {of === null ? "" : ` of ${words(of)}`}
        </b>
      </div>
      {of !== null && (
        <div className={classes.meterBar} data-full={part >= 1 || undefined}>
          <i style={{ width: `${part * 100}%` }} />
        </div>
      )}
    </div>
  );
}
