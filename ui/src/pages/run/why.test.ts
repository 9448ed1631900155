import { expect, test } from "vitest";
import { endText, type Why, whyText } from "./why";

const at = (time: string) => time;
const ended = { status: "failed", reason: "exit_code", exit_code: 2, error_message: null };

test("a failure is told by its error, with its exit code", () => {
  expect(endText(ended)).toBe("exit code 2");
  expect(endText({ ...ended, error_message: "Traceback:\n  line\nValueError: no" })).toBe(
    "exit code 2: ValueError: no",
  );
  expect(endText({ ...ended, exit_code: null })).toBe("the command exited with a code other than 0");
});

test("a skipped run is told by its reason, a success needs no words", () => {
  expect(endText({ status: "skipped", reason: "dep_failed", exit_code: null, error_message: null })).toBe(
    "a job that it depends on did not succeed",
  );
  expect(endText({ status: "success", reason: null, exit_code: 0, error_message: null })).toBe("");
});

test("a run that waits says what for", () => {
  const why: Why = { code: "waits_for_limit", option: "max_concurrent", value: 1, holders: ["A"] };
  expect(whyText(why, at)).toBe("It waits: max_concurrent=1, held by A.");
  expect(whyText({ code: "no_worker", queue: "gpu", needs: ["executor=worker", "fast"] }, at)).toContain(
    "foliot worker --server URL --label fast --queue gpu",
  );
});

test("an end says its reason and how often it was tried", () => {
  const why: Why = { code: "ended", status: "failed", reason: "timeout", attempts: 3, has_no_retries: false };
  expect(whyText(why, at)).toBe("It exceeded its timeout, after 3 attempts.");
});

test("a reason of a newer server is shown as it is", () => {
  const why: Why = { code: "ended", status: "failed", reason: "new_reason", attempts: 1, has_no_retries: true };
  expect(whyText(why, at)).toBe("New reason. The job has no retries.");
});
