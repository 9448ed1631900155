import { useNavigate, useSearch } from "@tanstack/react-router";
import { chains, list as listOf } from "@/api/queries";
import { useList } from "@/api/useList";
import { Chips } from "@/parts/Chips";
import { EmptyState } from "@/parts/EmptyState";
import { ErrorNote } from "@/parts/ErrorNote";
import { Loading } from "@/parts/Loading";
import { PageTitle } from "@/parts/PageTitle";
import { counted } from "@/time/format";
import { ChainTable } from "./ChainTable";
import { ClassCard } from "./ClassCard";
import classes from "./chains.module.css";
import { SHOWN } from "./search";

const EXAMPLE = `[[chains]]
id = "disk-pressure"
every = "6h"

[chains.scout]                  # exit code 10: there is something to repair
command = "bin/disk-check"

[chains.action]
command = "bin/disk-clean"

[chains.verify]
command = "bin/disk-check"`;

/** The classes of chains with their breakers, and their chains. */
export function ChainsPage() {
  const search = useSearch({ from: "/chains" });
  const navigate = useNavigate({ from: "/chains" });
  const all = useList(chains.classes());
  const rows = useList(listOf("jobs", "/api/job-rows", { query: { kind: "chain", limit: 200 } }));
  const open = useList(chains.list({ is_open: true, limit: 100 }));
  const list = useList({
    ...chains.list({ class_id: search.class ?? null, is_open: search.show === "open", limit: 50 }),
  });
  const shown =
    search.show === "closed" ? { ...list, items: list.items.filter((chain) => chain.state === "closed") } : list;
  if (all.isLoading) return <Loading rows={8} />;
  const isEmpty = all.items.length === 0 && !all.error;
  return (
    <>
      <PageTitle
        title="Chains"
        note={isEmpty ? undefined : `${counted(all.items.length, "class", "classes")}, ${open.items.length} active`}
      />
      <ErrorNote error={all.error} onRetry={all.reload} />
      {isEmpty && (
        <EmptyState title="No chains yet" toml={EXAMPLE} command="foliot check foliot.toml">
          A scout looks regularly. If it finds something, a chain acts, verifies, and closes, within limits.
        </EmptyState>
      )}
      <div className={classes.cards}>
        {all.items.map((one) => (
          <ClassCard key={one.id} one={one} row={rows.items.find((row) => row.id === one.id)} />
        ))}
      </div>
      {!isEmpty && (
        <>
          <div className={classes.filters}>
            <Chips
              label="Chains"
              options={[
                { value: "all", word: "All chains" },
                { value: "open", word: "Open", status: "running", count: open.items.length },
                { value: "closed", word: "Closed" },
              ]}
              value={search.show ?? "all"}
              onChange={(value) => {
                const show = SHOWN.find((one) => one === value);
                void navigate({ search: (old) => ({ ...old, show }), replace: true });
              }}
            />
            <Chips
              label="Class"
              options={[
                { value: "", word: "Every class" },
                ...all.items.map((one) => ({ value: one.id, word: one.id })),
              ]}
              value={search.class ?? ""}
              onChange={(value) =>
                void navigate({ search: (old) => ({ ...old, class: value || undefined }), replace: true })
              }
            />
          </div>
          <ChainTable
            list={shown}
            empty={
              <EmptyState title="No chains" command="foliot chains list">
                {search.class || search.show
                  ? "No chain fits these filters."
                  : "No scout has found anything yet. A chain is made when one does."}
              </EmptyState>
            }
          />
        </>
      )}
    </>
  );
}
