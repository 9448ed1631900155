import { Button, Popover, Textarea } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useState } from "react";
import { api } from "@/api/client";
import { useAction } from "@/api/mutations";
import type { WorkflowPage } from "@/api/types.gen";
import { ErrorNote } from "@/parts/ErrorNote";
import { readParams } from "./params";

interface Props {
  page: WorkflowPage;
  isOpen: boolean;
  onChange: (isOpen: boolean) => void;
  children: ReactNode;
}

/** Starts an execution, with parameters as JSON. Ctrl or Cmd and Enter start it too. */
export function Start({ page, isOpen, onChange, children }: Props) {
  return (
    <Popover
      opened={isOpen}
      onChange={onChange}
      width={340}
      position="bottom-end"
      trapFocus
      returnFocus
      withRoles={false}
    >
      <Popover.Target>
        <span>{children}</span>
      </Popover.Target>
      <Popover.Dropdown role="dialog" aria-label={`Start ${page.id}`}>
        {isOpen && <StartForm page={page} onClose={() => onChange(false)} />}
      </Popover.Dropdown>
    </Popover>
  );
}

function StartForm({ page, onClose }: { page: WorkflowPage; onClose: () => void }) {
  const navigate = useNavigate();
  const hasParams = Object.keys(page.params).length > 0;
  const [text, setText] = useState(() => (hasParams ? JSON.stringify(page.params, null, 2) : ""));
  const { params, problem } = readParams(text);
  const start = useAction({
    send: () =>
      api.post("/api/workflows/{workflow_id}/start", {
        path: { workflow_id: page.id },
        body: { params: params ?? null },
      }),
    changes: ["workflows", "executions", "runs", "jobs", "overview"],
    done: () => `${page.id} was started`,
    onSuccess: (run) => {
      onClose();
      void navigate({ to: "/workflows/$workflowId", params: { workflowId: page.id }, search: { execution: run.id } });
    },
    isQuiet: true,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!problem && !start.isPending) start.mutate(undefined);
  };
  return (
    <form
      onSubmit={submit}
      onKeyDown={(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && submit(event)}
    >
      <h2>Start {page.id}</h2>
      {hasParams ? (
        <Textarea
          mt={8}
          label="Parameters (JSON)"
          description="These are its own. It refuses parameters that it does not declare."
          value={text}
          onChange={(event) => setText(event.target.value)}
          error={problem}
          autosize
          minRows={3}
          maxRows={14}
          spellCheck={false}
          styles={{ input: { fontFamily: "var(--mono)", fontSize: 12, lineHeight: "18px" } }}
        />
      ) : (
        <p className="muted">It declares no parameters. The newest version is started.</p>
      )}
      <ErrorNote error={start.error} />
      <div className="row" style={{ marginTop: 12, justifyContent: "flex-end" }}>
        <Button onClick={onClose}>Back</Button>
        <Button type="submit" variant="filled" loading={start.isPending} disabled={Boolean(problem)} data-autofocus>
          Start
        </Button>
      </div>
    </form>
  );
}
