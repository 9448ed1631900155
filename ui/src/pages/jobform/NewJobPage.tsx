import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { useMe } from "@/access/useMe";
import { jobs } from "@/api/queries";
import { ErrorNote } from "@/parts/ErrorNote";
import { Loading } from "@/parts/Loading";
import { Note } from "@/parts/Note";
import { PageTitle } from "@/parts/PageTitle";
import { useZone } from "@/time/zone";
import { draftOf, emptyDraft, onlyAsToml } from "./draft";
import { EXAMPLE } from "./example";
import { JobForm } from "./JobForm";
import { useToml } from "./useToml";

const TomlEditor = lazy(() => import("./TomlEditor").then((module) => ({ default: module.TomlEditor })));

const WAYS = [
  { value: "form", label: "Form" },
  { value: "toml", label: "TOML" },
];

/** A new job by a form, or anything as TOML: workflows, fanouts, chains. */
export function NewJobPage() {
  const { way, from } = useSearch({ from: "/new/job" });
  const navigate = useNavigate({ from: "/new/job" });
  const { may } = useMe();
  const zone = useZone();
  const copied = useQuery({ ...jobs.get(from ?? ""), enabled: from !== undefined });
  const isToml = way === "toml" || (copied.data !== undefined && onlyAsToml(copied.data) !== null);
  if (!may("edit")) return <Refused />;
  return (
    <>
      <PageTitle
        title={from ? `New job, a copy of ${from}` : isToml ? "New definitions" : "New job"}
        actions={
          <SegmentedControl
            aria-label="How to define it"
            data={WAYS}
            value={isToml ? "toml" : "form"}
            onChange={(value) =>
              navigate({ search: (old) => ({ ...old, way: value === "toml" ? "toml" : undefined }), replace: true })
            }
          />
        }
      />
      <ErrorNote error={copied.error} />
      {from !== undefined && copied.isLoading && <Loading rows={8} />}
      {isToml ? (
        <Suspense fallback={<Loading rows={12} />}>
          {from === undefined ? <TomlEditor text={EXAMPLE} /> : <CopiedToml from={from} />}
        </Suspense>
      ) : (
        (from === undefined || copied.data) && (
          <JobForm
            key={from}
            draft={copied.data ? { ...draftOf(copied.data, zone), id: `${from}-copy` } : emptyDraft(zone)}
          />
        )
      )}
    </>
  );
}

function CopiedToml({ from }: { from: string }) {
  const toml = useToml(from, false);
  if (toml.error) return <ErrorNote error={toml.error} />;
  if (!toml.data) return <Loading rows={12} />;
  // The first id is that of the copied definition.
  return <TomlEditor text={toml.data.toml.replace(/^(id = ")([^"]*)/m, "$1$2-copy")} />;
}

export function Refused() {
  return (
    <>
      <PageTitle title="Jobs" />
      <Note>Only editors and administrators create and change jobs, because a job runs code.</Note>
    </>
  );
}
