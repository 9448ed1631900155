import { Autocomplete, Button, Checkbox, Textarea } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useMe } from "@/access/useMe";
import { api } from "@/api/client";
import { useAction } from "@/api/mutations";
import type { ImportedCrontab } from "@/api/types.gen";
import { Code } from "@/parts/Code";
import { ErrorNote } from "@/parts/ErrorNote";
import { Note } from "@/parts/Note";
import { PageTitle } from "@/parts/PageTitle";
import { Section } from "@/parts/Section";
import { counted } from "@/time/format";
import { zones } from "@/time/zone";
import classes from "./Import.module.css";
import { Lines } from "./Lines";

const EXAMPLE =
  "MAILTO=ops@shop.example\n30 2 * * *  /usr/local/bin/backup\n*/15 * * * *  /usr/local/bin/sync --quiet\n@reboot  /usr/local/bin/warm-cache\n";

/** A crontab becomes jobs: first what each line becomes, then the import. */
export function ImportPage() {
  const { may } = useMe();
  const { system = false } = useSearch({ from: "/import" });
  const navigate = useNavigate({ from: "/import" });
  const [text, setText] = useState("");
  const [timezone, setTimezone] = useState("");
  const [isPaused, setPaused] = useState(true);
  const [imported, setImported] = useState<ImportedCrontab | null>(null);
  const body = { text, system, paused: isPaused, timezone: timezone || null };
  const [settled] = useDebouncedValue(body, 250);
  const preview = useQuery({
    queryKey: ["import", settled],
    queryFn: ({ signal }) => api.post("/api/import/crontab", { body: { ...settled, dry_run: true }, signal }),
    enabled: may("edit") && settled.text.trim() !== "",
    retry: false,
    placeholderData: (previous) => previous,
    gcTime: 0,
  });
  const save = useAction({
    send: () => api.post("/api/import/crontab", { body: { ...body, dry_run: false } }),
    changes: ["jobs", "schedules"],
    isQuiet: true,
    onSuccess: setImported,
  });
  if (!may("edit")) return <PageTitle title="Import" sub="Only editors and administrators import crontabs." />;
  const found = text.trim() === "" ? undefined : preview.data;
  const jobs = found?.lines.filter((line) => line.job_id !== null && line.action === "created") ?? [];
  return (
    <>
      <PageTitle title="Import" sub="Paste a crontab to see what each of its lines becomes." />
      <div className={classes.columns}>
        <div className={classes.fields}>
          <Textarea
            label="Crontab"
            description="The output of crontab -l, or /etc/crontab"
            placeholder={EXAMPLE}
            autosize
            minRows={10}
            maxRows={24}
            spellCheck={false}
            className={classes.text}
            value={text}
            onChange={(event) => {
              setImported(null);
              setText(event.currentTarget.value);
            }}
          />
          <Checkbox
            label="Its lines name their users, as in /etc/crontab"
            checked={system}
            onChange={(event) => {
              const isOn = event.currentTarget.checked || undefined;
              void navigate({ search: (old) => ({ ...old, system: isOn }), replace: true });
            }}
          />
          <Autocomplete
            label="Time zone of its machine"
            placeholder={found?.timezone ?? "that of this server"}
            data={zones()}
            limit={50}
            value={timezone}
            onChange={setTimezone}
          />
          <Checkbox
            label="Import paused, so that nothing runs twice until cron is switched off"
            checked={isPaused}
            onChange={(event) => setPaused(event.currentTarget.checked)}
          />
          <ErrorNote error={save.error ?? preview.error} />
          <div>
            <Button
              variant="filled"
              disabled={jobs.length === 0 || imported !== null}
              loading={save.isPending}
              onClick={() => save.mutate(undefined)}
            >
              {jobs.length > 0 ? `Import ${counted(jobs.length, "job")}` : "Import"}
            </Button>
          </div>
          {imported && <Done imported={imported} isPaused={isPaused} />}
        </div>
        <div className={classes.found}>
          {found && (
            <>
              <Section title="Lines" note={found.lines.length}>
                <Lines lines={found.lines} />
              </Section>
              <Section title="As TOML">
                <Code text={found.toml} />
              </Section>
            </>
          )}
        </div>
      </div>
    </>
  );
}

function Done({ imported, isPaused }: { imported: ImportedCrontab; isPaused: boolean }) {
  return (
    <Note hue="ok" role="status">
      {counted(imported.saved.length, "job")} imported{isPaused && ", paused"}. <Link to="/jobs">Show jobs</Link>
    </Note>
  );
}
