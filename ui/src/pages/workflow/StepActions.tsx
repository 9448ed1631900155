import { Button } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useMe } from "@/access/useMe";
import { api } from "@/api/client";
import { useAction } from "@/api/mutations";
import type { Resource } from "@/api/queries";
import type { RunView, WorkflowPage, WorkflowStepView } from "@/api/types.gen";
import type { NodeState } from "@/graph/types";
import { Confirm } from "@/parts/Confirm";
import { FINAL } from "@/status/table";
import { useRerun } from "./Rerun";
import classes from "./workflow.module.css";

const CHANGED: readonly Resource[] = ["workflows", "executions", "runs", "overview"];

interface Props {
  page: WorkflowPage;
  step: WorkflowStepView;
  state: NodeState | undefined;
  run: RunView | undefined;
}

/** Approve or reject, run from here, mark, pause. What the role may not do is not shown. */
export function StepActions({ page, step, state, run }: Props) {
  const { may } = useMe();
  const navigate = useNavigate();
  const execution = page.execution?.execution;
  const isOver = execution !== undefined && (FINAL as ReadonlySet<string>).has(execution.status);
  const path = { execution_id: execution?.id ?? "", step: step.name };
  const rerun = useRerun(page.id);
  const answer = useAction({
    send: (isApproved: boolean) =>
      isApproved
        ? api.post("/api/executions/{execution_id}/steps/{step}/approve", { path, body: {} })
        : api.post("/api/executions/{execution_id}/steps/{step}/reject", { path, body: {} }),
    changes: CHANGED,
    done: (_, isApproved) => `${step.name} was ${isApproved ? "approved" : "rejected"}`,
  });
  const mark = useAction({
    send: () => api.post("/api/executions/{execution_id}/steps/{step}/mark", { path }),
    changes: CHANGED,
    done: (answered) =>
      answered.execution_id === execution?.id
        ? `${step.name} counts as a success`
        : `${step.name} counts as a success; a new execution goes on`,
    onSuccess: (answered) => {
      if (answered.execution_id !== execution?.id)
        void navigate({
          to: "/workflows/$workflowId",
          params: { workflowId: page.id },
          search: { execution: answered.execution_id },
        });
    },
  });
  const pause = useAction({
    send: (isPaused: boolean) => {
      const given = { path: { workflow_id: page.id, step: step.name } };
      return isPaused
        ? api.post("/api/workflows/{workflow_id}/steps/{step}/pause", given)
        : api.post("/api/workflows/{workflow_id}/steps/{step}/resume", given);
    },
    changes: CHANGED,
    done: (_, isPaused) =>
      isPaused ? `${step.name} is paused: executions skip it.` : `${step.name} runs again in executions that reach it.`,
  });
  if (!may("operate")) return null;
  const waits = state?.status === "waits_for_approval";
  const hasFailed = state?.status === "failed" || state?.status === "timeout";
  const mayMark = execution && !waits && (hasFailed || state?.isToCome) && run?.status !== "running";
  return (
    <div className={classes.actions}>
      {waits && (
        <>
          <Button variant="filled" loading={answer.isPending} onClick={() => answer.mutate(true)}>
            Approve
          </Button>
          <Confirm
            target={(open) => <Button onClick={open}>Reject</Button>}
            title={`Reject ${step.name}?`}
            text="The step fails, and the steps after it are skipped unless they follow a failure."
            action="Reject"
            isDangerous
            onConfirm={() => answer.mutate(false)}
          />
        </>
      )}
      {execution && isOver && (
        <Confirm
          target={(open) => (
            <Button loading={rerun.isPending} onClick={open}>
              Run from here
            </Button>
          )}
          title={`Run again from ${step.name}?`}
          text="A new execution keeps the results of the other steps, and runs this step and those after it. It uses the newest version."
          action="Run"
          onConfirm={() => rerun.mutate({ id: execution.id, steps: [step.name] })}
        />
      )}
      {mayMark && (
        <Confirm
          target={(open) => (
            <Button loading={mark.isPending} onClick={open}>
              Mark as success
            </Button>
          )}
          title={`Count ${step.name} as a success?`}
          text={isOver ? "A new execution runs the steps after it." : "The steps after it go on."}
          action="Mark"
          onConfirm={() => mark.mutate(undefined)}
        />
      )}
      {!step.is_final && (
        <Button variant="subtle" loading={pause.isPending} onClick={() => pause.mutate(!step.is_paused)}>
          {step.is_paused ? "Resume step" : "Pause step"}
        </Button>
      )}
    </div>
  );
}
