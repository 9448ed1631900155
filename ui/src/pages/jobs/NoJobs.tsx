import { Button } from "@mantine/core";
import { EmptyState } from "@/parts/EmptyState";
import type { JobsSearch } from "./search";

const EXAMPLE = `[[jobs]]
id = "backup"
command = "pg_dump shop > /backup/shop.sql"
cron = "30 2 * * *"
timezone = "Europe/Berlin"`;

export const NO_FILTER = { search: undefined, tag: undefined, kind: undefined, state: undefined };

/** An empty list: nothing matches, or there are no jobs yet. */
export function NoJobs({ search, onClear }: { search: JobsSearch; onClear: () => void }) {
  const hasFilter = Object.keys(NO_FILTER).some((name) => search[name as keyof JobsSearch] !== undefined);
  if (hasFilter) {
    return (
      <EmptyState title="No job matches" actions={<Button onClick={onClear}>Show all jobs</Button>}>
        No job has all of these: {wordsOf(search)}.
      </EmptyState>
    );
  }
  return (
    <EmptyState title="No jobs yet" toml={EXAMPLE} command="foliot check foliot.toml">
      A job is a command, a request or a function, and when it runs. Write this into foliot.toml, or make one here with
      New job.
    </EmptyState>
  );
}

function wordsOf({ search, tag, kind, state }: JobsSearch): string {
  const parts = [
    search && `“${search}” in its name or tags`,
    tag && `the tag ${tag}`,
    kind && `the kind ${kind}`,
    state && `the state ${state}`,
  ];
  return parts.filter(Boolean).join(", ");
}
