import { Button } from "@mantine/core";
import { IconRefresh } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useMe } from "@/access/useMe";
import { runs } from "@/api/queries";
import type { RunView } from "@/api/types.gen";
import { Confirm } from "@/parts/Confirm";
import { isFinal } from "@/status/table";
import { counted } from "@/time/format";
import { Below } from "../run/Children";
import { failedCount } from "../run/fanout/items";
import { useRunActions } from "../run/useRunActions";
import classes from "./runs.module.css";

/** What is below a run of the list: its items and reducer, or its steps; and what can be done about failures. */
export function RunBelow({ run }: { run: RunView }) {
  const { data: page } = useQuery(runs.page(run.id));
  const { may } = useMe();
  const navigate = useNavigate();
  const { retry } = useRunActions((made) => void navigate({ to: "/runs/$runId", params: { runId: made.id } }));
  const failed = page?.fanout ? failedCount(page.fanout) : 0;
  const firstFailed = page?.fanout?.first_failed[0];
  const actions = (
    <>
      {firstFailed && (
        <Button
          component={Link}
          to="/runs/$runId"
          params={{ runId: run.id } as never}
          search={{ item: String(firstFailed.index) } as never}
        >
          First failed
        </Button>
      )}
      {may("operate") && failed > 0 && isFinal(run.status) && (
        <Confirm
          target={(open) => (
            <Button leftSection={<IconRefresh size={14} />} loading={retry.isPending} onClick={open}>
              Re-run {failed.toLocaleString("en")} failed
            </Button>
          )}
          title={`Run ${counted(failed, "item")} again?`}
          text="A new fanout runs the items that failed, timed out or were cancelled. The others keep their results."
          action="Re-run failed"
          onConfirm={() => retry.mutate({ id: run.id, failed: true })}
        />
      )}
    </>
  );
  return (
    <div className={classes.below}>
      <Below run={run} actions={actions} />
    </div>
  );
}
