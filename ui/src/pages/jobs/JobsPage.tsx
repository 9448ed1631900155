import { Button } from "@mantine/core";
import { IconDownload, IconPlus } from "@tabler/icons-react";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useMe } from "@/access/useMe";
import { useList } from "@/api/useList";
import { PageTitle } from "@/parts/PageTitle";
import { useKeys } from "@/shell/keys";
import { TickLegend } from "@/ticks/TickLegend";
import { BulkBar } from "./BulkBar";
import { Filters } from "./Filters";
import { JobTable } from "./JobTable";
import classes from "./jobs.module.css";
import { KeysFoot } from "./KeysFoot";
import { rows } from "./queries";
import type { JobsSearch } from "./search";
import { findTick, TickDrawer } from "./TickDrawer";

/** All jobs, with what ran, what did not and what comes. */
export function JobsPage() {
  const search = useSearch({ from: "/jobs" });
  const navigate = useNavigate({ from: "/jobs" });
  const { tick, ...filter } = search;
  const list = useList(rows.list(filter));
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  // A job that is not shown is not selected: what is done is done with what one sees.
  const selected = new Set(list.items.map((row) => row.id).filter((id) => chosen.has(id)));
  const clear = () => setChosen(new Set());
  const change = (changed: Partial<JobsSearch>) => {
    void navigate({ search: (old) => ({ ...old, ...changed }), replace: true });
  };
  const found = tick === undefined ? null : findTick(list.items, tick);
  return (
    <>
      <PageTitle
        title="Jobs"
        note={list.isLoading ? undefined : `${list.items.length}${list.hasMore ? "+" : ""}`}
        actions={<Actions />}
      />
      <Filters search={search} onChange={change} />
      {selected.size > 0 && <BulkBar selected={selected} onClear={clear} />}
      <JobTable list={list} search={search} onChange={change} selected={selected} onSelect={setChosen} />
      {list.items.length > 0 && (
        <div className={`${classes.foot} wide`}>
          <TickLegend />
          <KeysFoot />
        </div>
      )}
      {found && <TickDrawer {...found} onChange={(name) => change({ tick: name })} />}
    </>
  );
}

function Actions() {
  const { may } = useMe();
  const navigate = useNavigate();
  useKeys(may("edit") ? { create: () => void navigate({ to: "/new/job" }) } : {});
  if (!may("edit")) return null;
  return (
    <>
      <Button leftSection={<IconDownload size={14} />} renderRoot={(props) => <Link to="/import" {...props} />}>
        Paste a crontab
      </Button>
      <Button
        variant="filled"
        leftSection={<IconPlus size={14} />}
        renderRoot={(props) => <Link to="/new/job" {...props} />}
      >
        New job
      </Button>
    </>
  );
}
