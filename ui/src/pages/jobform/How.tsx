import { NumberInput, Textarea, TextInput } from "@mantine/core";
import type { Form } from "./JobForm";
import classes from "./JobForm.module.css";

/** Limits of its runs, and what they are given. */
export function How({ form }: { form: Form }) {
  const unlimited = form.values.kind === "http" ? "30s, or 90s, 2h" : "none, or 90s, 2h";
  return (
    <div className={classes.fields}>
      <div className={classes.pair}>
        <TextInput label="Timeout" placeholder={unlimited} {...form.getInputProps("timeout")} />
        <NumberInput label="Retries" min={0} max={1_000} allowDecimal={false} {...form.getInputProps("retries")} />
      </div>
      <div className={classes.mono}>
        <Textarea
          label="Payload (JSON)"
          placeholder='{"market": "eu"}'
          autosize
          minRows={2}
          maxRows={12}
          spellCheck={false}
          {...form.getInputProps("payload")}
        />
      </div>
    </div>
  );
}
