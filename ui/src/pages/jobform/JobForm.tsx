import { Button } from "@mantine/core";
import { type UseFormReturnType, useForm } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useRouter } from "@tanstack/react-router";
import { api } from "@/api/client";
import { asApiError } from "@/api/error";
import { useAction } from "@/api/mutations";
import { readPayload } from "@/pages/jobs/payload";
import { ErrorNote } from "@/parts/ErrorNote";
import { Section } from "@/parts/Section";
import { documentOf, otherSettings } from "./document";
import type { Document, Draft } from "./draft";
import { fieldErrors } from "./fieldErrors";
import { How } from "./How";
import classes from "./JobForm.module.css";
import { pairProblem } from "./pairs";
import { What } from "./What";
import { When } from "./When";

interface Props {
  draft: Draft;
  /** The stored job that is edited. Without it, a new one is created. */
  stored?: { document: Document; etag: string | undefined };
}

export type Form = UseFormReturnType<Draft>;

/** The form of a job that runs a command, sends a request, calls a function or prompts an agent. */
export function JobForm({ draft, stored }: Props) {
  const form = useForm<Draft>({
    initialValues: draft,
    validate: {
      env: (text, { kind }) => (kind === "http" ? null : pairProblem(text, "=")),
      headers: (text, { kind }) => (kind === "http" ? pairProblem(text, ":") : null),
      payload: (text) => readPayload(text).problem,
    },
  });
  const navigate = useNavigate();
  const client = useQueryClient();
  const { history } = useRouter();
  const save = useAction({
    send: (values: Draft) => {
      const { id, ...document } = documentOf(values, stored?.document);
      // A new job must not replace another one: revision 0 is that of a job that does not exist.
      const ifMatch = stored ? stored.etag : '"0"';
      return api
        .put("/api/jobs/{job_id}", { path: { job_id: String(id) }, body: document, ifMatch })
        .catch((problem: unknown) => {
          form.setErrors(fieldErrors(asApiError(problem)));
          throw problem;
        });
    },
    changes: ["jobs", "schedules"],
    isQuiet: true,
    done: (job) => `${job.id} was saved.`,
    onSuccess: (job) => void navigate({ to: "/jobs/$jobId", params: { jobId: job.id } }),
  });
  const error = save.error && asApiError(save.error);
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <div className={classes.columns}>
        <div>
          <Section title="What it does">
            <What form={form} isNew={stored === undefined} />
          </Section>
          <Section title="How its runs are handled">
            <How form={form} />
          </Section>
        </div>
        <Section title="When it runs">
          <When form={form} own={stored ? draft.id : ""} others={otherSettings(stored?.document ?? {})} />
        </Section>
      </div>
      <ErrorNote error={error} />
      {error?.status === 412 && !stored && (
        <p className="muted">There is already a job with this id. Choose another id, or edit that job.</p>
      )}
      {error?.status === 412 && stored && (
        <Button mt={8} onClick={() => void client.resetQueries({ queryKey: ["edited", draft.id] })}>
          Discard my changes and read it again
        </Button>
      )}
      <div className={classes.foot}>
        <Button type="submit" variant="filled" loading={save.isPending}>
          {stored ? "Save" : "Create job"}
        </Button>
        <Button onClick={() => history.back()}>Back</Button>
      </div>
    </form>
  );
}
