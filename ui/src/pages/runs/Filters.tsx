import { Button, Select, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch, IconX } from "@tabler/icons-react";
import { type RefObject, useEffect, useState } from "react";
import type { RunKind, Status } from "@/api/types.gen";
import { StatusIcon } from "@/status/StatusIcon";
import { entryOf } from "@/status/table";
import classes from "./runs.module.css";
import { isFiltered, KINDS, type RunsSearch, statusesOf } from "./search";

interface Props {
  search: RunsSearch;
  onChange: (search: RunsSearch) => void;
  input: RefObject<HTMLInputElement | null>;
}

const SHOWN: readonly Status[] = [
  "running",
  "queued",
  "scheduled",
  "failed",
  "timeout",
  "partial",
  "success",
  "skipped",
  "cancelled",
];
const KIND_WORDS: Record<RunKind, string> = {
  job: "jobs",
  execution: "executions",
  fanout: "fanouts",
  chain: "chains",
  step: "steps",
  item: "items",
  reducer: "reducers",
};
const HOUR = 3_600_000;
const SPANS: Record<string, number> = { "1": HOUR, "24": 24 * HOUR, "168": 168 * HOUR, "720": 720 * HOUR };

/** What is shown: all of it is in the address. */
export function Filters({ search, onChange, input }: Props) {
  const chosen = new Set(statusesOf(search.status));
  const toggle = (status: Status) => {
    const next = new Set(chosen);
    if (!next.delete(status)) next.add(status);
    onChange({ ...search, failed: undefined, status: [...next].join(",") || undefined });
  };
  const isAll = chosen.size === 0 && !search.failed;
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be a row that scrolls */}
      <div className={classes.chips} role="group" aria-label="Status">
        <button
          type="button"
          className={classes.chip}
          aria-pressed={isAll}
          onClick={() => onChange({ ...search, status: undefined, failed: undefined })}
        >
          All
        </button>
        {SHOWN.map((status) => (
          <button
            key={status}
            type="button"
            className={classes.chip}
            aria-pressed={
              chosen.has(status) || (search.failed === true && (status === "failed" || status === "timeout"))
            }
            onClick={(event) => {
              toggle(status);
              // After a click with the pointer, Enter opens the row of the keyboard, not this filter again.
              if (event.detail > 0) event.currentTarget.blur();
            }}
          >
            <StatusIcon status={status} size={13} />
            {entryOf(status).word}
          </button>
        ))}
      </div>
      <div className={classes.filters}>
        <Typed
          label="Job"
          placeholder="Job id"
          width={190}
          value={search.job}
          onChange={(job) => onChange({ ...search, job })}
        />
        <Typed
          label="Tag"
          placeholder="Tag"
          width={120}
          value={search.tag}
          onChange={(tag) => onChange({ ...search, tag })}
        />
        <Typed
          label="Run"
          placeholder="Run id begins with"
          width={190}
          input={input}
          value={search.q}
          onChange={(q) => onChange({ ...search, q })}
        />
        <Select
          aria-label="Kind"
          w={150}
          data={[{ value: "", label: "All kinds" }, ...KINDS.map((kind) => ({ value: kind, label: KIND_WORDS[kind] }))]}
          value={search.kind ?? ""}
          onChange={(kind) => onChange({ ...search, kind: (kind || undefined) as RunKind | undefined })}
        />
        <Since search={search} onChange={onChange} />
        {isFiltered(search) && (
          <Button
            variant="subtle"
            color="gray"
            leftSection={<IconX size={14} />}
            onClick={() => onChange(search.open ? { open: search.open } : {})}
          >
            Clear
          </Button>
        )}
      </div>
    </>
  );
}

function Since({ search, onChange }: Omit<Props, "input">) {
  const isOwn = search.since !== undefined || search.until !== undefined;
  const data = [
    { value: "", label: "Any time" },
    { value: "1", label: "Last hour" },
    { value: "24", label: "Last 24 hours" },
    { value: "168", label: "Last 7 days" },
    { value: "720", label: "Last 30 days" },
  ];
  const own = { value: "own", label: rangeText(search) };
  return (
    <Select
      aria-label="Created"
      w={170}
      data={isOwn ? [...data, own] : data}
      value={isOwn ? "own" : ""}
      onChange={(value) => {
        if (value === "own") return;
        const span = SPANS[value ?? ""];
        // Whole minutes: the same choice a moment later is the same address.
        const since = span ? new Date(Math.floor((Date.now() - span) / 60_000) * 60_000).toISOString() : undefined;
        onChange({ ...search, since, until: undefined });
      }}
    />
  );
}

function rangeText({ since, until }: RunsSearch): string {
  const short = (time: string) => time.slice(5, 16).replace("T", " ");
  if (since && until) return `${short(since)} to ${short(until)} UTC`;
  return since ? `since ${short(since)} UTC` : `until ${short(until ?? "")} UTC`;
}

interface TypedProps {
  label: string;
  placeholder: string;
  width: number;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
  input?: RefObject<HTMLInputElement | null>;
}

const AFTER_KEY = 300;

function Typed({ label, placeholder, width, value, onChange, input }: TypedProps) {
  const [text, setText] = useState(value ?? "");
  useEffect(() => setText(value ?? ""), [value]);
  const tell = useDebouncedCallback((given: string) => onChange(given.trim() || undefined), AFTER_KEY);
  return (
    <TextInput
      ref={input}
      aria-label={label}
      placeholder={placeholder}
      w={width}
      leftSection={label === "Run" ? <IconSearch size={14} /> : undefined}
      value={text}
      onChange={(event) => {
        setText(event.target.value);
        tell(event.target.value);
      }}
    />
  );
}
