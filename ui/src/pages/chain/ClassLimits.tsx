import type { ClassView } from "@/api/types.gen";
import { money } from "@/pages/chains/outcome";
import { KeyValue } from "@/parts/KeyValue";
import { Section } from "@/parts/Section";
import { duration } from "@/time/format";
import classes from "./chain.module.css";
import { Meter } from "./Limits";

/** What the class uses now and today, and what each of its chains may use. */
export function ClassLimits({ one }: { one: ClassView }) {
  const { limits } = one;
  if (!limits) return null;
  const whole = (value: number) => value.toLocaleString("en");
  return (
    <>
      <Section title="In use">
        <div className={classes.meters}>
          <Meter name="Chains at once" used={one.active_chains.length} of={limits.max_concurrent} />
          <Meter name="Budget today" used={one.usd_today} of={limits.daily_usd} words={money} />
          <Meter name="Tokens today" used={one.tokens_today} of={limits.daily_tokens} words={whole} />
        </div>
      </Section>
      <Section title="Limits of a chain" more="kept by the scheduler">
        <div className={classes.meters}>
          <KeyValue
            facts={[
              ["Depth", limits.max_depth],
              ["Steps", limits.max_children],
              ["Retries of a step", limits.max_retries],
              ["Lifetime", duration(limits.lifetime)],
              ["Budget", limits.usd === null ? "no limit" : money(limits.usd)],
              ["Tokens", limits.tokens === null ? "no limit" : whole(limits.tokens)],
              ["Spawns", `${limits.spawns} in ${duration(limits.spawn_window)}`],
              ["Of the class", `${limits.class_spawns} in ${duration(limits.class_window)}`],
            ]}
          />
        </div>
      </Section>
    </>
  );
}
