import { Button } from "@mantine/core";
import { useState } from "react";
import { api } from "@/api/client";
import { useAction } from "@/api/mutations";
import { server } from "@/api/queries";
import type { EnrolmentView, NewEnrolment } from "@/api/types.gen";
import { useList } from "@/api/useList";
import { Code } from "@/parts/Code";
import { Confirm } from "@/parts/Confirm";
import { EmptyState } from "@/parts/EmptyState";
import { Note } from "@/parts/Note";
import { type Column, Table } from "@/parts/Table";
import { RelativeTime } from "@/parts/times";
import { EnrolmentForm } from "./EnrolmentForm";

/** Who may execute runs from other machines. The secret of a new one is shown once. */
export function Enrolments() {
  const list = useList(server.enrolments());
  const [created, setCreated] = useState<NewEnrolment | null>(null);
  const changes = ["enrolments", "workers"] as const;
  const disable = useAction({
    send: (name: string) => api.post("/api/enrolments/{name}/disable", { path: { name } }),
    changes,
    done: (_, name) => `Requests of ${name} are refused. Its runs go to others when its lease ends.`,
  });
  const enable = useAction({
    send: (name: string) => api.post("/api/enrolments/{name}/enable", { path: { name } }),
    changes,
    done: (_, name) => `Requests of ${name} are accepted again.`,
  });
  const remove = useAction({
    send: (name: string) => api.delete("/api/enrolments/{name}", { path: { name } }),
    changes,
    done: (_, name) => `The secret of ${name} is worthless now.`,
  });
  const columns: Column<EnrolmentView>[] = [
    { key: "name", title: "Name", render: (one) => one.name },
    { key: "labels", title: "Labels", width: "160px", render: (one) => one.labels.join(", "), isWide: true },
    { key: "kinds", title: "Kinds", width: "160px", render: (one) => one.kinds.join(", ") || "all", isWide: true },
    { key: "state", title: "State", width: "110px", render: (one) => one.state },
    { key: "used", title: "Last request", width: "120px", isWide: true, render: (one) => <Used enrolment={one} /> },
    {
      key: "actions",
      title: "",
      width: "190px",
      align: "right",
      render: (one) => (
        <span className="row" style={{ justifyContent: "flex-end" }}>
          {one.state === "disabled" ? (
            <Button onClick={() => enable.mutate(one.name)}>Enable</Button>
          ) : (
            <Button onClick={() => disable.mutate(one.name)}>Disable</Button>
          )}
          <Confirm
            target={(open) => <Button onClick={open}>Remove</Button>}
            title={`Remove ${one.name}?`}
            text="Its secret becomes worthless. Its runs go to other workers when its lease ends."
            action="Remove"
            isDangerous
            onConfirm={() => remove.mutate(one.name)}
          />
        </span>
      ),
    },
  ];
  return (
    <>
      <EnrolmentForm onCreated={setCreated} />
      {created && (
        <Note hue="ok" role="status">
          <p>
            Set this in the environment of <b>{created.name}</b>, then start <code>foliot worker</code> there. The
            secret cannot be shown again.
          </p>
          <Code text={created.environment} wrap />
        </Note>
      )}
      <Table
        label="Remote workers"
        columns={columns}
        rows={list.items}
        rowKey={(one) => one.id}
        list={list}
        hasKeys={false}
        empty={
          <EmptyState title="No remote workers" command="foliot worker register gpu-1 --label gpu">
            A remote worker executes runs with the address of this server and a secret.
          </EmptyState>
        }
      />
    </>
  );
}

function Used({ enrolment: { last_used_at: at } }: { enrolment: EnrolmentView }) {
  return at ? <RelativeTime at={at} /> : <span className="faint">never</span>;
}
