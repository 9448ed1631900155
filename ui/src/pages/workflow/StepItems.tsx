import { useNavigate, useSearch } from "@tanstack/react-router";
import type { FanoutView, ItemView } from "@/api/types.gen";
import { useList } from "@/api/useList";
import { LogViewer } from "@/log/LogViewer";
import { countOf, ITEM_STATUSES, itemsQuery, itemText } from "@/pages/run/fanout/items";
import { Chips } from "@/parts/Chips";
import { LoadMore } from "@/parts/LoadMore";
import { StatusIcon } from "@/status/StatusIcon";
import { entryOf } from "@/status/table";
import { duration } from "@/time/format";
import classes from "./workflow.module.css";

/** The items of a fanout in the drawer of its step, with the log of the chosen one. */
export function StepItems({ runId, fanout }: { runId: string; fanout: FanoutView }) {
  const { item, status } = useSearch({ from: "/workflows/$workflowId" });
  const navigate = useNavigate({ from: "/workflows/$workflowId" });
  const list = useList(itemsQuery(runId, { status }));
  const chosen = list.items.find((one) => one.index === item);
  const choose = (one: ItemView) =>
    void navigate({
      search: (old) => ({ ...old, item: one.index === item ? undefined : one.index }),
      replace: true,
      resetScroll: false,
    });
  const present = ITEM_STATUSES.filter((one) => countOf(fanout, one) > 0 || one === status);
  return (
    <section className={classes.stepItems} aria-label="Items">
      <Chips
        label="Status of items"
        options={[
          { value: "all", word: "All", count: fanout.items },
          ...present.map((one) => ({ value: one, word: entryOf(one).word, status: one, count: countOf(fanout, one) })),
        ]}
        value={status ?? "all"}
        onChange={(value) => {
          const wanted = ITEM_STATUSES.find((one) => one === value);
          void navigate({ search: (old) => ({ ...old, status: wanted, item: undefined }), replace: true });
        }}
      />
      <ul>
        {list.items.map((one) => (
          <li key={one.index}>
            <button
              type="button"
              className={classes.item}
              aria-pressed={one.index === item}
              onClick={() => choose(one)}
              title={one.error_message ?? undefined}
            >
              <StatusIcon status={one.status} size={13} alone />
              <span className="clip grow">{itemText(one)}</span>
              {one.attempt > 1 && <span className="faint">attempt {one.attempt}</span>}
              <span className="muted">{one.duration === null ? "" : duration(one.duration)}</span>
            </button>
            {one.index === item && chosen?.run_id && (
              <LogViewer
                key={chosen.run_id}
                runId={chosen.run_id}
                title={itemText(chosen)}
                label={itemText(chosen)}
                attempts={chosen.attempt}
                hasFailed={chosen.status === "failed" || chosen.status === "timeout"}
              />
            )}
          </li>
        ))}
      </ul>
      <LoadMore list={list} />
    </section>
  );
}
