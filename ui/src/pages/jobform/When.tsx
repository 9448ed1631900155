import { Autocomplete, SegmentedControl, Select, TextInput } from "@mantine/core";
import { zones } from "@/time/zone";
import { CronInput } from "./CronInput";
import { CronPreview, CronWords } from "./CronPreview";
import { type Document, type Draft, TIMINGS } from "./draft";
import type { Form } from "./JobForm";
import classes from "./JobForm.module.css";
import { useCron } from "./useCron";

const TIMING_WORDS = { cron: "Cron expression", every: "Interval", manual: "Only by hand" };
const OVERLAPS = [
  { value: "skip", label: "skip: the tick is skipped" },
  { value: "queue", label: "queue: the run waits" },
  { value: "allow", label: "allow: both run" },
  { value: "cancel_running", label: "cancel_running: the earlier run ends" },
];
const CATCHUPS = [
  { value: "none", label: "none: they stay missed" },
  { value: "once", label: "once: one run for all of them" },
  { value: "all", label: "all: a run for each" },
  { value: "spread", label: "spread: a run for each, spread out" },
];

const HASHED = /(^|[\s,])H/;

interface Props {
  form: Form;
  /** The id of the job that is edited. */
  own: string;
  /** Settings of the schedule that the form keeps and does not show. */
  others: Document;
}

/** The schedule: words, the expression, its next times. */
export function When({ form, own, others }: Props) {
  const { timing, cron, every, timezone, id } = form.values;
  const explained = useCron({ expression: expressionOf(form.values), timezone, id, others });
  const { error, found, expression } = explained ?? {};
  const kept = Object.keys(others).filter((key) => Boolean(others[key]));
  const isZoneWrong = error?.field === "tz";
  const errorAt =
    error?.position !== undefined && expression === cron.trim() ? cron.indexOf(expression) + error.position : undefined;
  return (
    <div className={classes.fields}>
      <SegmentedControl
        aria-label="When it runs"
        data={TIMINGS.map((value) => ({ value, label: TIMING_WORDS[value] }))}
        {...form.getInputProps("timing")}
      />
      {timing === "cron" && (
        <>
          <CronWords explained={isZoneWrong ? undefined : explained} />
          <CronInput value={cron} onChange={(value) => form.setFieldValue("cron", value)} errorAt={errorAt} />
        </>
      )}
      {timing === "every" && (
        <>
          <CronWords explained={isZoneWrong || every.trim() === "" ? undefined : explained} />
          <TextInput label="Every" placeholder="90s, 5m, 2h" required w={160} {...form.getInputProps("every")} />
        </>
      )}
      {timing === "manual" && <p className="muted">It has no schedule. People, programs and other jobs start it.</p>}
      {timing !== "manual" && (
        <>
          <Autocomplete
            label="Time zone"
            data={zones()}
            limit={50}
            required
            {...form.getInputProps("timezone")}
            {...(isZoneWrong ? { error: `${error.message}. ${error.hint}` } : {})}
          />
          <div className={classes.pair}>
            <Select
              label="While an earlier run has not ended"
              data={OVERLAPS}
              allowDeselect={false}
              {...form.getInputProps("overlap")}
            />
            <Select
              label="Times that were missed"
              data={CATCHUPS}
              allowDeselect={false}
              {...form.getInputProps("catchup")}
            />
          </div>
          {kept.length > 0 && <p className="faint">Also set, and kept: {kept.join(", ")}. TOML shows them.</p>}
        </>
      )}
      {found && (timing === "cron" || !own) && (
        <div>
          {id.trim() === "" && HASHED.test(cron) && (
            <p className="look">H is chosen by the id of the job. Until it has one, these times are an example.</p>
          )}
          <CronPreview found={found} own={own} />
        </div>
      )}
    </div>
  );
}

/** An interval is explained as a macro. The times of a stored one are counted from its creation, so they are not shown. */
function expressionOf({ timing, cron, every }: Draft): string {
  if (timing === "cron") return cron;
  const interval = every.trim();
  return timing === "every" && interval ? `@every ${interval}${/^\d+$/.test(interval) ? "s" : ""}` : "";
}
