import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { useMe } from "@/access/useMe";
import { api } from "@/api/client";
import { ErrorNote } from "@/parts/ErrorNote";
import { Loading } from "@/parts/Loading";
import { PageTitle } from "@/parts/PageTitle";
import { useZone } from "@/time/zone";
import { draftOf, onlyAsToml } from "./draft";
import { JobForm } from "./JobForm";
import { Refused } from "./NewJobPage";
import { useToml } from "./useToml";

const TomlEditor = lazy(() => import("./TomlEditor").then((module) => ({ default: module.TomlEditor })));

/** Edits a job, in the form if it fits in there, else as TOML. What a file owns can only be read. */
export function EditJobPage() {
  const { jobId } = useParams({ from: "/jobs/$jobId/edit" });
  const { way, workflow } = useSearch({ from: "/jobs/$jobId/edit" });
  const navigate = useNavigate({ from: "/jobs/$jobId/edit" });
  const { may } = useMe();
  const zone = useZone();
  // What is edited does not change under the hands of the user: it is read once.
  const job = useQuery({
    queryKey: ["edited", jobId],
    queryFn: () => api.getTagged("/api/jobs/{job_id}", { path: { job_id: jobId } }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
  if (!may("edit")) return <Refused />;
  const detail = job.data?.data;
  const isWorkflow = workflow ?? detail?.kind === "workflow";
  const isReadOnly = detail?.source === "file";
  const reason = detail ? onlyAsToml(detail) : null;
  const isForm = detail !== undefined && !isWorkflow && !isReadOnly && reason === null && way !== "toml";
  return (
    <>
      <PageTitle
        title={isReadOnly ? `Definition of ${jobId}` : `Edit ${jobId}`}
        sub={isReadOnly ? null : reason}
        actions={
          detail &&
          !isWorkflow &&
          !isReadOnly &&
          reason === null && (
            <SegmentedControl
              aria-label="How to edit it"
              data={[
                { value: "form", label: "Form" },
                { value: "toml", label: "TOML" },
              ]}
              value={isForm ? "form" : "toml"}
              onChange={(value) =>
                navigate({ search: (old) => ({ ...old, way: value === "toml" ? "toml" : undefined }), replace: true })
              }
            />
          )
        }
      />
      <ErrorNote error={isWorkflow ? null : job.error} />
      {job.isPending && <Loading rows={10} />}
      {isForm && (
        <JobForm
          key={`${jobId} ${job.data?.etag}`}
          draft={draftOf(detail, zone)}
          stored={{ document: detail.document ?? {}, etag: job.data?.etag }}
        />
      )}
      {!isForm && (detail || isWorkflow) && <Toml id={jobId} isWorkflow={isWorkflow} />}
    </>
  );
}

function Toml({ id, isWorkflow }: { id: string; isWorkflow: boolean }) {
  const toml = useToml(id, isWorkflow);
  if (toml.error) return <ErrorNote error={toml.error} />;
  if (!toml.data) return <Loading rows={12} />;
  return (
    <Suspense fallback={<Loading rows={12} />}>
      <TomlEditor text={toml.data.toml} edited={{ id, revision: toml.data.revision }} />
    </Suspense>
  );
}
