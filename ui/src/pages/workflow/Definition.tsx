import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { urlOf } from "@/api/client";
import type { WorkflowPage } from "@/api/types.gen";
import { Code } from "@/parts/Code";
import { ErrorNote } from "@/parts/ErrorNote";
import { Section } from "@/parts/Section";
import { FORMS, type Form, startForms } from "./copy";
import { tomlOf } from "./Versions";

/** The definition as TOML, and commands that start the workflow. */
export function Definition({ page }: { page: WorkflowPage }) {
  const [form, setForm] = useState<Form>("CLI");
  const toml = useQuery({ ...tomlOf(page.id, page.version), enabled: form === "TOML", retry: false });
  const url = new URL(urlOf("/"), window.location.origin).href.replace(/\/$/, "");
  const texts = startForms(page.id, url, page.params);
  return (
    <Section
      title="Copy as"
      plain
      more={
        <SegmentedControl aria-label="Copy as" data={[...FORMS]} value={form} onChange={(value) => setForm(value)} />
      }
    >
      {form !== "TOML" && <Code text={texts[form]} />}
      {form === "TOML" && <ErrorNote error={toml.error} />}
      {form === "TOML" && toml.data && (
        <>
          <Code text={toml.data.toml.trimEnd()} />
          {toml.data.is_masked && <p className="faint">*** stands for a secret that the server keeps.</p>}
        </>
      )}
    </Section>
  );
}
