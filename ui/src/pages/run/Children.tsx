import { ActionIcon } from "@mantine/core";
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { runs } from "@/api/queries";
import type { RunPage, RunView } from "@/api/types.gen";
import { useList } from "@/api/useList";
import { Loading } from "@/parts/Loading";
import { RunLink } from "@/parts/links";
import { Section } from "@/parts/Section";
import { type Column, Table } from "@/parts/Table";
import { Duration, RelativeTime } from "@/parts/times";
import { StatusWord } from "@/status/StatusWord";
import { type ChildRow, childRows } from "./childRows";
import classes from "./children.module.css";
import { Items } from "./fanout/Items";
import type { ItemsFilter } from "./fanout/items";

interface Props {
  page: RunPage;
  selected: string | undefined;
  onSelect: (run: string) => void;
}

/** The runs below an execution or a chain, in order: a step that never ran is listed too. */
export function Children({ page, selected, onSelect }: Props) {
  const list = useList(runs.children(page.run.id));
  const rows = childRows(page, list.items);
  return (
    <Section title={page.execution ? "Steps" : "Runs"} note={rows.length}>
      <ChildTable rows={rows} list={list} selected={selected} onSelect={onSelect} hasKeys />
    </Section>
  );
}

interface TableProps {
  rows: ChildRow[];
  list: ReturnType<typeof useList<RunView>>;
  selected?: string | undefined;
  onSelect?: ((run: string) => void) | undefined;
  hasKeys?: boolean;
}

export function ChildTable({ rows, list, selected, onSelect, hasKeys = false }: TableProps) {
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const toggle = (key: string) => {
    const changed = new Set(opened);
    if (!changed.delete(key)) changed.add(key);
    setOpened(changed);
  };
  return (
    <Table
      label="Runs below"
      columns={columnsOf(opened, toggle, onSelect)}
      rows={rows}
      rowKey={(row) => row.key}
      openKey={rows.find((row) => row.run && row.run.id === selected)?.key}
      onOpen={onSelect && ((row) => row.run && onSelect(row.run.id))}
      hasKeys={hasKeys}
      detail={(row) => opened.has(row.key) && row.run && <Below run={row.run} />}
      empty={list.isLoading ? <Loading /> : <p className={classes.empty}>No run was started below it.</p>}
    />
  );
}

const hasChildren = (run: RunView | undefined): boolean =>
  run !== undefined && ["fanout", "execution", "chain"].includes(run.kind === "step" && run.role ? "fanout" : run.kind);

/** What is below a child: the items of a fanout, the steps of an execution. */
export function Below({ run, actions }: { run: { id: string }; actions?: ReactNode }) {
  const { data: page, isPending } = useQuery(runs.page(run.id));
  const [filter, setFilter] = useState<ItemsFilter>({});
  if (isPending || !page) return <Loading rows={3} />;
  if (page.fanout) {
    return <Items runId={run.id} fanout={page.fanout} filter={filter} onFilter={setFilter} actions={actions} />;
  }
  return <Runs page={page} />;
}

function Runs({ page }: { page: RunPage }) {
  const list = useList(runs.children(page.run.id));
  return <ChildTable rows={childRows(page, list.items)} list={list} />;
}

function columnsOf(
  opened: ReadonlySet<string>,
  toggle: (key: string) => void,
  onSelect: ((run: string) => void) | undefined,
): Column<ChildRow>[] {
  return [
    {
      key: "name",
      title: "Name",
      render: (row) => (
        <span className={classes.name}>
          {hasChildren(row.run) ? (
            <ActionIcon
              size={20}
              aria-label={`${opened.has(row.key) ? "Hide" : "Show"} what is below ${row.name}`}
              aria-expanded={opened.has(row.key)}
              onClick={() => toggle(row.key)}
            >
              {opened.has(row.key) ? <IconChevronDown size={14} /> : <IconChevronRight size={14} />}
            </ActionIcon>
          ) : (
            <span className={classes.indent} />
          )}
          {row.run && onSelect ? (
            <button type="button" className={classes.link} onClick={() => row.run && onSelect(row.run.id)}>
              {row.name}
            </button>
          ) : row.run ? (
            <RunLink id={row.run.id}>{row.name}</RunLink>
          ) : (
            <span className="muted">{row.name}</span>
          )}
        </span>
      ),
    },
    { key: "status", title: "Status", width: "130px", render: (row) => <StatusWord status={row.status} /> },
    {
      key: "started",
      title: "Started",
      width: "110px",
      isWide: true,
      render: (row) => <RelativeTime at={row.run?.started_at} />,
    },
    {
      key: "duration",
      title: "Duration",
      width: "92px",
      align: "right",
      render: (row) =>
        row.run?.status === "running" ? (
          <Duration since={row.run.started_at} />
        ) : (
          <Duration seconds={row.run?.duration} />
        ),
    },
    {
      key: "why",
      title: "Why",
      isWide: true,
      render: (row) => (
        <span className="muted" title={row.why}>
          {row.why}
        </span>
      ),
    },
    {
      key: "run",
      title: "Run",
      width: "88px",
      isWide: true,
      render: (row) => (row.run ? <RunLink id={row.run.id} /> : null),
    },
  ];
}
