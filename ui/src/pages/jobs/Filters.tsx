import { Button, Select, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch, IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { JobFacets, JobState } from "@/api/types.gen";
import { type ChipOption, Chips } from "@/parts/Chips";
import { useKeys } from "@/shell/keys";
import classes from "./jobs.module.css";
import { rows } from "./queries";
import { type JobsSearch, KINDS, type Kind } from "./search";

const STATE_CHIPS: readonly ChipOption<JobState | "all">[] = [
  { value: "all", word: "All" },
  { value: "failing", word: "failing", status: "failed" },
  { value: "running", word: "running", status: "running" },
  { value: "paused", word: "paused", status: "paused" },
  { value: "disabled", word: "disabled", status: "cancelled" },
];

interface Props {
  search: JobsSearch;
  onChange: (change: Partial<JobsSearch>) => void;
}

/** The filters of the list, all of them in the URL. */
export function Filters({ search, onChange }: Props) {
  const { data: facets } = useQuery(rows.facets());
  const states = STATE_CHIPS.map((chip) => ({ ...chip, count: facets && countOf(facets, chip.value) }));
  return (
    <div className={classes.filters}>
      <SearchInput value={search.search ?? ""} onChange={(text) => onChange({ search: text || undefined })} />
      <Chips
        label="State"
        options={states}
        value={search.state}
        onChange={(state) => onChange({ state: state === "all" ? undefined : state })}
      />
      {search.tag && (
        <Button
          radius="xl"
          rightSection={<IconX size={13} />}
          aria-label={`Remove the filter tag ${search.tag}`}
          onClick={() => onChange({ tag: undefined })}
        >
          tag: {search.tag}
        </Button>
      )}
      <Select
        className={classes.kinds}
        aria-label="Kind"
        data={[
          { value: "", label: "All kinds" },
          ...KINDS.map((kind) => ({ value: kind, label: facets ? `${kind} ${facets.kinds[kind] ?? 0}` : kind })),
        ]}
        value={search.kind ?? ""}
        onChange={(kind) => onChange({ kind: (kind || undefined) as Kind | undefined })}
        comboboxProps={{ shadow: "md" }}
      />
    </div>
  );
}

function countOf(facets: JobFacets, state: JobState | "all"): number {
  return state === "all" ? facets.total : (facets.states[state] ?? 0);
}

const PAUSE_IN_TYPING = 200;

function SearchInput({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(value);
  const apply = useDebouncedCallback(onChange, PAUSE_IN_TYPING);
  const sent = useRef(value);
  // The address changed by a link or by the back button, not by typing.
  useEffect(() => {
    if (value === sent.current) return;
    sent.current = value;
    setTyped(value);
  }, [value]);
  useKeys({ search: () => input.current?.focus() });
  return (
    <TextInput
      ref={input}
      className={classes.search}
      type="search"
      aria-label="Filter by name or tag"
      placeholder="Filter by name or tag"
      leftSection={<IconSearch size={14} />}
      rightSection={<kbd>/</kbd>}
      value={typed}
      onChange={(event) => {
        const text = event.target.value;
        setTyped(text);
        sent.current = text;
        apply(text);
      }}
      onKeyDown={(event) => event.key === "Escape" && input.current?.blur()}
    />
  );
}
