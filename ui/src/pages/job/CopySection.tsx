import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { urlOf } from "@/api/client";
import { jobs } from "@/api/queries";
import { Code } from "@/parts/Code";
import { ErrorNote } from "@/parts/ErrorNote";
import { Section } from "@/parts/Section";
import { copyForms, FORMS, type Form } from "./copy";
import classes from "./job.module.css";
import { tomlOf } from "./queries";

/** The definition as TOML, and commands that start the job. */
export function CopySection({ jobId }: { jobId: string }) {
  const [form, setForm] = useState<Form>("TOML");
  const { data: job } = useQuery(jobs.get(jobId));
  const toml = useQuery({ ...tomlOf(jobId), enabled: form === "TOML", retry: false });
  const url = new URL(urlOf("/"), window.location.origin).href.replace(/\/$/, "");
  const texts = copyForms(jobId, url, job?.payload_template ?? null);
  return (
    <Section
      title="Copy as"
      plain
      more={
        <SegmentedControl aria-label="Copy as" data={[...FORMS]} value={form} onChange={(value) => setForm(value)} />
      }
    >
      {form !== "TOML" && <Code text={texts[form]} />}
      {form === "TOML" && toml.error && <ErrorNote error={toml.error} />}
      {form === "TOML" && toml.data && (
        <>
          <Code text={toml.data.toml.trimEnd()} />
          {toml.data.is_masked && <p className={classes.hint}>*** stands for a secret that the server keeps.</p>}
        </>
      )}
    </Section>
  );
}
