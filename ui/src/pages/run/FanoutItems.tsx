import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { FanoutView, ItemView, RunPage } from "@/api/types.gen";
import { Section } from "@/parts/Section";
import { StatusWord } from "@/status/StatusWord";
import { isFinal } from "@/status/table";
import { counted, duration } from "@/time/format";
import { useNow } from "@/time/useNow";
import { Items } from "./fanout/Items";
import { itemQuery, itemText } from "./fanout/items";
import { RunLog } from "./RunLog";
import classes from "./run.module.css";

/** The items of a fanout, and the log of the selected one. */
export function FanoutItems({ page, fanout }: { page: RunPage; fanout: FanoutView }) {
  const { item, status, q } = useSearch({ from: "/runs/$runId" });
  const navigate = useNavigate({ from: "/runs/$runId" });
  const chosen = item ?? fanout.first_failed[0]?.index.toString();
  const { data: shown } = useQuery({ ...itemQuery(page.run.id, chosen ?? ""), enabled: chosen !== undefined });
  const select = (one: ItemView) =>
    void navigate({
      search: (old) => ({ ...old, item: String(one.index) }),
      hash: "",
      replace: true,
      resetScroll: false,
    });
  return (
    <>
      <Items
        runId={page.run.id}
        fanout={fanout}
        filter={{ status, q }}
        onFilter={(filter) =>
          void navigate({ search: (old) => ({ ...old, ...filter }), replace: true, resetScroll: false })
        }
        selected={shown?.index}
        onSelect={select}
        hasKeys
      />
      {shown?.run_id ? (
        <RunLog runId={shown.run_id} name={`${shown.index} · ${itemText(shown)}`} />
      ) : (
        <p className={`${classes.body} faint`}>
          {shown ? "This item has no run yet." : "Select an item to read its log."}
        </p>
      )}
      <HowItEnds page={page} fanout={fanout} />
    </>
  );
}

/** What the result will be, as far as it is decided. */
function HowItEnds({ page, fanout }: { page: RunPage; fanout: FanoutView }) {
  const now = useNow(10_000);
  if (isFinal(page.run.status)) return null;
  const failures = fanout.failed + fanout.timed_out;
  const tolerated = Math.floor(fanout.items * fanout.partial_tolerance);
  const left = fanout.eta ? Math.max(0, (Date.parse(fanout.eta) - now) / 1_000) : null;
  return (
    <Section title="How it will end">
      <p className={classes.body}>
        {failures === 0 ? "No item has failed" : `${counted(failures, "item")} failed`}, and{" "}
        {tolerated === 0 ? "none is tolerated" : `${tolerated} of ${fanout.items} may fail`} (
        <code>partial_tolerance = {fanout.partial_tolerance}</code>).{" "}
        {failures === 0 && (
          <>
            As it is now, it ends as <StatusWord status="success" />.
          </>
        )}
        {failures > 0 && failures <= tolerated && (
          <>
            With at most {tolerated} failures it ends as <StatusWord status="partial" />, with more as{" "}
            <StatusWord status="failed" />.
          </>
        )}
        {failures > tolerated && (
          <>
            It will end as <StatusWord status="failed" />.
          </>
        )}
        {left !== null && ` About ${duration(Math.round(left))} left at the pace so far.`}
      </p>
    </Section>
  );
}
