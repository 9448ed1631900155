import { Button, Checkbox } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "@/api/client";
import { useAction } from "@/api/mutations";
import { server } from "@/api/queries";
import type { NewToken, TokenView } from "@/api/types.gen";
import { useList } from "@/api/useList";
import { Code } from "@/parts/Code";
import { Confirm } from "@/parts/Confirm";
import { EmptyState } from "@/parts/EmptyState";
import { Note } from "@/parts/Note";
import { Section } from "@/parts/Section";
import { type Column, Table } from "@/parts/Table";
import { RelativeTime } from "@/parts/times";
import { TokenForm } from "./TokenForm";

/** Tokens of programs. The text of a new one is shown once. */
export function Tokens() {
  const { revoked } = useSearch({ from: "/settings" });
  const navigate = useNavigate({ from: "/settings" });
  const list = useList(server.tokens({ revoked: revoked ?? false }));
  const [created, setCreated] = useState<NewToken | null>(null);
  const revoke = useAction({
    send: (id: string) => api.delete("/api/tokens/{name}", { path: { name: id } }),
    changes: ["tokens"],
    done: () => "The token is refused from now on.",
    onSuccess: () => setCreated(null),
  });
  const columns: Column<TokenView>[] = [
    { key: "name", title: "Name", render: (token) => token.name },
    { key: "may", title: "May", width: "200px", render: (token) => token.role ?? token.scopes.join(", ") },
    { key: "prefix", title: "Begins with", width: "150px", isWide: true, render: (token) => <Prefix token={token} /> },
    { key: "created", title: "Created", width: "180px", isWide: true, render: (token) => <Created token={token} /> },
    {
      key: "used",
      title: "Last used",
      width: "110px",
      isWide: true,
      render: (token) => <At at={token.last_used_at} />,
    },
    { key: "state", title: "State", width: "150px", render: (token) => <State token={token} /> },
    {
      key: "actions",
      title: "",
      width: "90px",
      align: "right",
      render: (token) =>
        token.state === "active" && (
          <Confirm
            target={(open) => <Button onClick={open}>Revoke</Button>}
            title={`Revoke ${token.name}?`}
            text="Programs that use it are refused at once. It cannot be undone."
            action="Revoke"
            isDangerous
            onConfirm={() => revoke.mutate(token.id)}
          />
        ),
    },
  ];
  return (
    <>
      <Section title="New token" plain>
        <TokenForm onCreated={setCreated} />
        {created && (
          <Note hue="ok" role="status">
            <p>
              Token <b>{created.name}</b>. Copy it now: it is stored nowhere and cannot be shown again.
            </p>
            <Code text={created.secret} wrap />
          </Note>
        )}
      </Section>
      <Section
        title="Tokens"
        note={list.items.length}
        more={
          <Checkbox
            label="Show revoked"
            checked={revoked ?? false}
            onChange={(event) => {
              const isOn = event.currentTarget.checked || undefined;
              void navigate({ search: (old) => ({ ...old, revoked: isOn }), replace: true });
            }}
          />
        }
      >
        <Table
          label="Tokens"
          columns={columns}
          rows={list.items}
          rowKey={(token) => token.id}
          list={list}
          empty={
            <EmptyState title="No tokens yet" command="foliot token create --role viewer --name dashboard">
              Programs send a token with each request. People log in with a user.
            </EmptyState>
          }
        />
      </Section>
    </>
  );
}

const At = ({ at }: { at: string | null }) => (at ? <RelativeTime at={at} /> : <span className="faint">never</span>);

const Prefix = ({ token }: { token: TokenView }) => <span className="mono clip">{token.prefix}</span>;

const Created = ({ token }: { token: TokenView }) => (
  <span className="clip">
    <RelativeTime at={token.created_at} /> <span className="faint">by {token.created_by}</span>
  </span>
);

function State({ token }: { token: TokenView }) {
  if (token.state !== "active") return <span className="faint">{token.state}</span>;
  if (token.expires_at === null) return <>active</>;
  return (
    <span className="clip">
      until <RelativeTime at={token.expires_at} />
    </span>
  );
}
