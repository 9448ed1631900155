import { Button } from "@mantine/core";
import { IconPlayerStop, IconRefresh } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useMe } from "@/access/useMe";
import type { RunPage } from "@/api/types.gen";
import { Confirm } from "@/parts/Confirm";
import { isFinal } from "@/status/table";
import { counted } from "@/time/format";
import { failedCount } from "./fanout/items";
import classes from "./run.module.css";
import { useRunActions } from "./useRunActions";

/** Cancel, run again, re-run what failed, count as a success: what is possible now. On a phone a bar at the bottom. */
export function RunActions({ page }: { page: RunPage }) {
  const { may } = useMe();
  const navigate = useNavigate();
  const { cancel, retry, mark } = useRunActions(
    (run) => void navigate({ to: "/runs/$runId", params: { runId: run.id } }),
  );
  if (!may("operate")) return null;
  const { run, fanout } = page;
  const isOver = isFinal(run.status);
  const isWhole = run.kind === "job" || run.kind === "fanout";
  const failed = fanout ? failedCount(fanout) : 0;
  return (
    <div className={classes.actions}>
      {!isOver && (
        <Confirm
          target={(open) => (
            <Button
              leftSection={<IconPlayerStop size={14} />}
              loading={cancel.isPending}
              disabled={run.status === "cancelling"}
              onClick={open}
            >
              {run.status === "cancelling" ? "Cancelling" : "Cancel"}
            </Button>
          )}
          title={`Cancel this run of ${run.job_id}?`}
          text={cancelText(page)}
          action="Cancel the run"
          isDangerous
          shortcut="cancel"
          onConfirm={() => cancel.mutate(run.id)}
        />
      )}
      {isOver && fanout && failed > 0 && (
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
      {isOver && isWhole && (
        <Confirm
          target={(open) => (
            <Button leftSection={<IconRefresh size={14} />} loading={retry.isPending} onClick={open}>
              Run again
            </Button>
          )}
          title={`Run ${run.job_id} again?`}
          text="A new run with the same parameters. This one stays as it is."
          action="Run again"
          shortcut="runNow"
          onConfirm={() => retry.mutate({ id: run.id, failed: false })}
        />
      )}
      {run.status !== "success" && run.status !== "running" && run.status !== "cancelling" && run.kind === "job" && (
        <Confirm
          target={(open) => (
            <Button variant="subtle" color="gray" loading={mark.isPending} onClick={open}>
              Mark as success
            </Button>
          )}
          title="Count it as a success?"
          text={
            isOver
              ? "A new run that counts as a success replaces it, for gates and schedules that look at it. Nothing is executed."
              : "It will not start, and counts as a success. Nothing is executed."
          }
          action="Mark as success"
          onConfirm={() => mark.mutate(run.id)}
        />
      )}
    </div>
  );
}

function cancelText({ run, fanout }: RunPage): string {
  if (run.status === "queued" || run.status === "scheduled") return "It has not started, and will not.";
  if (fanout)
    return `${counted(fanout.running, "item")} that run are ended, no others are started, and no reducer runs.`;
  if (run.kind === "execution") return "Its running steps are ended, and no others are started.";
  return "Its worker asks it to end, and ends it by force if it does not.";
}
