import { Text } from "@codemirror/state";
import { expect, it } from "vitest";
import type { ProblemView } from "@/api/types.gen";
import { diagnostics } from "./CodeEditor";

const problem = (line: number, column: number): ProblemView => ({
  severity: "error",
  line,
  column,
  field: "jobs[1].cron",
  message: "wrong",
  hint: "Correct it.",
});

it("marks a problem from its column to the end of its line, and leaves out those without a line", () => {
  const document = Text.of(["[[jobs]]", 'cron = "x"']);

  expect(diagnostics([problem(2, 8), problem(0, 0), problem(9, 1)], document)).toEqual([
    { from: 16, to: 19, severity: "error", message: "wrong\nCorrect it." },
  ]);
});

it("keeps the mark within the line if the column is beyond it", () => {
  const document = Text.of(["a", "b"]);

  expect(diagnostics([problem(1, 40)], document)[0]).toMatchObject({ from: 1, to: 1 });
});
