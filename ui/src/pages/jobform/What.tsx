import { Select, TagsInput, Textarea, TextInput } from "@mantine/core";
import { KINDS, WORK } from "./draft";
import type { Form } from "./JobForm";
import classes from "./JobForm.module.css";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"];

/** The id, the work and what describes it. */
export function What({ form, isNew }: { form: Form; isNew: boolean }) {
  const { kind } = form.values;
  const work = WORK[kind];
  const Field = work.isLong ? Textarea : TextInput;
  return (
    <div className={classes.fields}>
      <div className={classes.pair}>
        <TextInput
          label="Id"
          placeholder="backup"
          required
          disabled={!isNew}
          autoFocus={isNew}
          autoComplete="off"
          spellCheck={false}
          {...form.getInputProps("id")}
        />
        <Select label="Kind" data={[...KINDS]} allowDeselect={false} {...form.getInputProps("kind")} />
      </div>
      <div className={classes.mono}>
        <Field
          key={kind}
          label={work.label}
          placeholder={work.example}
          required
          spellCheck={kind === "agent"}
          {...(work.isLong ? { autosize: true, minRows: 3, maxRows: 16 } : {})}
          {...form.getInputProps("work")}
        />
      </div>
      {kind === "http" ? <Request form={form} /> : <Process form={form} />}
      <TextInput label="Description" placeholder="What it is for" {...form.getInputProps("description")} />
      <TagsInput label="Tags" placeholder="nightly, then Enter" {...form.getInputProps("tags")} />
    </div>
  );
}

function Request({ form }: { form: Form }) {
  const { method } = form.values;
  const hasBody = method !== "GET" && method !== "HEAD";
  return (
    <>
      <div className={classes.pair}>
        <Select label="Method" data={METHODS} allowDeselect={false} {...form.getInputProps("method")} />
        <TextInput label="Statuses that are a success" placeholder="200-299" {...form.getInputProps("expectStatus")} />
      </div>
      <Lines form={form} name="headers" label="Headers" example="Accept: application/json" />
      {hasBody && <Lines form={form} name="body" label="Body" example='{"day": "today"}' />}
    </>
  );
}

function Process({ form }: { form: Form }) {
  return (
    <>
      <div className={classes.mono}>
        <TextInput
          label="Working directory"
          placeholder="that of the worker"
          spellCheck={false}
          {...form.getInputProps("workingDir")}
        />
      </div>
      <Lines form={form} name="env" label="Environment" example="DATABASE=shop" />
    </>
  );
}

interface LinesProps {
  form: Form;
  name: "env" | "headers" | "body";
  label: string;
  example: string;
}

function Lines({ form, name, label, example }: LinesProps) {
  return (
    <div className={classes.mono}>
      <Textarea
        label={label}
        placeholder={example}
        description={form.values[name].includes("***") ? "*** keeps the stored value." : undefined}
        autosize
        minRows={2}
        maxRows={12}
        spellCheck={false}
        {...form.getInputProps(name)}
      />
    </div>
  );
}
