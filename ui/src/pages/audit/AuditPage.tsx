import { TextInput } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useRef } from "react";
import { useMe } from "@/access/useMe";
import { server } from "@/api/queries";
import type { AuditView } from "@/api/types.gen";
import { useList } from "@/api/useList";
import { EmptyState } from "@/parts/EmptyState";
import { PageTitle } from "@/parts/PageTitle";
import { type Column, Table } from "@/parts/Table";
import { MomentText } from "@/parts/times";
import { useKeys } from "@/shell/keys";
import classes from "./Audit.module.css";
import { AuditDrawer } from "./AuditDrawer";
import { Subject } from "./Subject";

const COLUMNS: readonly Column<AuditView>[] = [
  { key: "at", title: "When", width: "var(--when)", render: (entry) => <MomentText at={entry.at} /> },
  { key: "actor", title: "Who", width: "var(--who)", render: (entry) => <span className="clip">{entry.actor}</span> },
  { key: "action", title: "Action", width: "170px", render: (entry) => actionWords(entry.action), isWide: true },
  { key: "subject", title: "What", render: (entry) => <Subject kind={entry.kind} id={entry.id} /> },
];

/** Every change that people and programs made, newest first. */
export function AuditPage() {
  const { may } = useMe();
  return may("administer") ? <Changes /> : <PageTitle title="Audit" sub="Only administrators see who changed what." />;
}

function Changes() {
  const search = useSearch({ from: "/audit" });
  const navigate = useNavigate({ from: "/audit" });
  const input = useRef<HTMLInputElement>(null);
  useKeys({ search: () => input.current?.focus() });
  const list = useList(server.audit({ actor: search.actor, id: search.id }));
  const open = (cursor: string | undefined) => navigate({ search: (old) => ({ ...old, open: cursor }), replace: true });
  const index = list.items.findIndex((entry) => entry.cursor === search.open);
  const entry = list.items[index];
  const [before, after] = [list.items[index - 1], list.items[index + 1]];
  const filter = (name: "actor" | "id", value: string) => {
    const wanted = value.trim() || undefined;
    if (wanted === search[name]) return;
    void navigate({ search: (old) => ({ ...old, [name]: wanted, open: undefined }), replace: true });
  };
  return (
    <div className={classes.page}>
      <PageTitle
        title="Audit"
        sub="Who changed what, and how it was before. Runs that schedules start are not listed."
      />
      <div className={classes.filters}>
        <TextInput
          ref={input}
          key={`actor ${search.actor}`}
          aria-label="Who"
          placeholder="Who, for example cli:anna"
          defaultValue={search.actor}
          onBlur={(event) => filter("actor", event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Enter" && filter("actor", event.currentTarget.value)}
        />
        <TextInput
          key={`id ${search.id}`}
          aria-label="What"
          placeholder="Id of a job, schedule, run ..."
          defaultValue={search.id}
          onBlur={(event) => filter("id", event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Enter" && filter("id", event.currentTarget.value)}
        />
      </div>
      <Table
        label="Changes"
        columns={COLUMNS}
        rows={list.items}
        rowKey={(one) => one.cursor}
        list={list}
        onOpen={(one) => open(one.cursor)}
        openKey={search.open}
        empty={
          <EmptyState title="No changes" command="foliot audit">
            {search.actor || search.id ? "No change fits these filters." : "Nothing was changed yet."}
          </EmptyState>
        }
      />
      {entry && (
        <AuditDrawer
          entry={entry}
          title={actionWords(entry.action)}
          onClose={() => open(undefined)}
          onPrevious={before && (() => open(before.cursor))}
          onNext={after && (() => open(after.cursor))}
        />
      )}
    </div>
  );
}

/** "job.paused" and "put_jobs" as words. */
export function actionWords(action: string): string {
  return action.replace(/[._]/g, " ");
}
