import { Button, SegmentedControl, TextInput } from "@mantine/core";
import { IconChevronLeft, IconChevronRight, IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useRef } from "react";
import { server } from "@/api/queries";
import { EmptyState } from "@/parts/EmptyState";
import { ErrorNote } from "@/parts/ErrorNote";
import { Loading } from "@/parts/Loading";
import { Note } from "@/parts/Note";
import { PageTitle } from "@/parts/PageTitle";
import { useKeys } from "@/shell/keys";
import { useNow } from "@/time/useNow";
import { Chart } from "./Chart";
import { intervalOf, movedBy, pageWords } from "./interval";
import { SPANS, type TimelineSearch } from "./search";
import classes from "./timeline.module.css";

const MOST = 150;
const EXAMPLE = '[[jobs]]\nid = "backup"\ncommand = "bin/backup"\ncron = "30 2 * * *"';

/** Past runs of all jobs as bars, coming fire times as marks, over an hour, a day or a week. */
export function TimelinePage() {
  const search = useSearch({ from: "/timeline" });
  const { span = "day", at, job } = search;
  const navigate = useNavigate({ from: "/timeline" });
  const change = (changed: Partial<TimelineSearch>) =>
    void navigate({ search: (old) => ({ ...old, ...changed }), replace: true });
  const minute = useNow(60_000);
  const around = at ? Date.parse(at) : minute;
  const { since, until } = useMemo(() => intervalOf(span, around), [span, around]);
  const { data: page, error, refetch, isPending } = useQuery(server.timeline({ since, until }));
  const input = useRef<HTMLInputElement>(null);
  useKeys({ search: () => input.current?.focus() });
  const rows = (page?.rows ?? []).filter((row) => !job || row.job_id.includes(job));
  return (
    <>
      <PageTitle
        title="Timeline"
        sub={page ? pageWords(page) : "What ran, and what comes."}
        actions={
          <>
            <Button.Group>
              <Button aria-label="Earlier" onClick={() => change({ at: movedBy(span, around, -1) })}>
                <IconChevronLeft size={15} />
              </Button>
              <Button disabled={!at} onClick={() => change({ at: undefined })}>
                Now
              </Button>
              <Button aria-label="Later" onClick={() => change({ at: movedBy(span, around, 1) })}>
                <IconChevronRight size={15} />
              </Button>
            </Button.Group>
            <SegmentedControl
              aria-label="Span"
              value={span}
              data={[...SPANS]}
              onChange={(value) => change({ span: SPANS.find((one) => one === value) })}
            />
          </>
        }
      />
      <div className={classes.filters}>
        <TextInput
          ref={input}
          type="search"
          aria-label="Part of a job's id"
          placeholder="Part of a job's id"
          leftSection={<IconSearch size={14} />}
          rightSection={<kbd>/</kbd>}
          value={job ?? ""}
          onChange={(event) => change({ job: event.target.value || undefined })}
        />
      </div>
      <ErrorNote error={error} onRetry={() => void refetch()} />
      {isPending && <Loading rows={12} />}
      {page && !page.is_complete && (
        <Note>There is more in this time than can be read at once: choose a shorter one.</Note>
      )}
      {rows.length > MOST && <Note>Only the first {MOST} jobs are shown.</Note>}
      {page && rows.length > 0 && <Chart page={page} rows={rows.slice(0, MOST)} />}
      {page && rows.length === 0 && (
        <EmptyState title="Nothing ran, and nothing comes" {...(job || at ? {} : { toml: EXAMPLE })}>
          {job || at ? "No job fits, or none ran in this time." : "Give a job a schedule:"}
        </EmptyState>
      )}
    </>
  );
}
