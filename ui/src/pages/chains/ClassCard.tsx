import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useMe } from "@/access/useMe";
import { chains } from "@/api/queries";
import type { ClassView, JobRow } from "@/api/types.gen";
import { useList } from "@/api/useList";
import { StatusWord } from "@/status/StatusWord";
import { BreakerWords } from "./Breaker";
import { ChainStrip } from "./ChainStrip";
import classes from "./chains.module.css";
import { money } from "./outcome";
import { Pips } from "./Pips";
import { Reset } from "./Reset";
import { useClassActions } from "./useClassActions";

const STRIP = 20;

/** A class of chains: its breaker, what it uses, and how its last chains ended. */
export function ClassCard({ one, row }: { one: ClassView; row: JobRow | undefined }) {
  const { may } = useMe();
  const { resume } = useClassActions(one.id);
  const list = useList(chains.list({ class_id: one.id, limit: STRIP }));
  const limits = one.limits;
  return (
    <article className={classes.card} data-open={one.breaker === "open" || undefined} aria-label={one.id}>
      <header>
        <h2 className="clip">
          <Link to="/chain-classes/$classId" params={{ classId: one.id }}>
            {one.id}
          </Link>
        </h2>
        <StatusWord status={one.stopped ? "paused" : one.breaker} />
      </header>
      <p className={classes.what}>{row?.description || row?.name}</p>
      <dl className={classes.rows}>
        <dt>Failures</dt>
        <dd>
          {one.breaker === "open" && one.run_ids.length > 0 ? (
            <Pips used={one.run_ids.length} of={one.run_ids.length} isBad />
          ) : (
            `${one.failures} counted`
          )}
        </dd>
        <dt>Chains at once</dt>
        <dd>
          {limits ? <Pips used={one.active_chains.length} of={limits.max_concurrent} /> : one.active_chains.length}
        </dd>
        <dt>Last {STRIP} chains</dt>
        <dd>
          <ChainStrip chains={list.items.slice(0, STRIP)} />
        </dd>
        {(one.usd_today > 0 || limits?.daily_usd) && (
          <>
            <dt>Spent today</dt>
            <dd>
              {money(one.usd_today)}
              {limits?.daily_usd != null && ` of ${money(limits.daily_usd)}`}
            </dd>
          </>
        )}
      </dl>
      {one.cause && (
        <p className={classes.cause} title={one.cause}>
          {one.cause}
        </p>
      )}
      <footer>
        <span className="grow">
          <BreakerWords one={one} next={row?.next_run_at} />
        </span>
        {may("operate") && one.stopped && (
          <Button loading={resume.isPending} onClick={() => resume.mutate(undefined)}>
            Resume
          </Button>
        )}
        {may("operate") && !one.stopped && one.breaker !== "closed" && <Reset classId={one.id} />}
      </footer>
    </article>
  );
}
