import { Button } from "@mantine/core";
import { IconRefresh } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { api } from "@/api/client";
import { useAction } from "@/api/mutations";
import { Confirm } from "@/parts/Confirm";

/** Repeats an ended execution: the given steps and those after them, or all failed ones. */
export function useRerun(workflowId: string) {
  const navigate = useNavigate();
  return useAction({
    send: ({ id, steps }: { id: string; steps: string[] }) =>
      api.post("/api/executions/{execution_id}/rerun", { path: { execution_id: id }, body: { steps } }),
    changes: ["workflows", "executions", "runs"],
    done: () => "A new execution was started",
    onSuccess: (run) =>
      void navigate({ to: "/workflows/$workflowId", params: { workflowId }, search: { execution: run.id } }),
  });
}

export function Rerun({ executionId, workflowId }: { executionId: string; workflowId: string }) {
  const rerun = useRerun(workflowId);
  return (
    <Confirm
      target={(open) => (
        <Button leftSection={<IconRefresh size={14} />} loading={rerun.isPending} onClick={open}>
          Rerun failed
        </Button>
      )}
      title="Rerun the failed steps?"
      text="A new execution keeps the results of the others, and runs the failed steps and those after them. It uses the newest version."
      action="Rerun"
      onConfirm={() => rerun.mutate({ id: executionId, steps: [] })}
    />
  );
}
