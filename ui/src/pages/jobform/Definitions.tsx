import type { CheckedText, DefinitionView, ProblemView } from "@/api/types.gen";
import { GraphBoundary } from "@/graph/GraphBoundary";
import { GraphView } from "@/graph/GraphView";
import { Section } from "@/parts/Section";
import { MomentText } from "@/parts/times";
import { counted } from "@/time/format";
import classes from "./Toml.module.css";

const ACTIONS: Record<DefinitionView["action"], string> = {
  created: "new",
  changed: "changed",
  unchanged: "as it is",
  refused: "owned by a file",
  kept: "kept as it is",
  unreadable: "cannot be read",
};

/** What a text defines, what it changes, and its problems. */
export function Definitions({ found }: { found: CheckedText }) {
  return (
    <>
      {found.problems.length > 0 && (
        <Section title="Problems" note={found.problems.length}>
          {found.problems.map((problem) => (
            <Problem key={`${problem.line} ${problem.field} ${problem.message}`} problem={problem} />
          ))}
        </Section>
      )}
      {(found.definitions.length > 0 || found.problems.length === 0) && (
        <Section title="Definitions" note={found.definitions.length}>
          {found.definitions.map((one) => (
            <Definition key={`${one.kind} ${one.id}`} definition={one} />
          ))}
        </Section>
      )}
    </>
  );
}

function Problem({ problem }: { problem: ProblemView }) {
  return (
    <div className={classes.entry}>
      <span className={problem.severity === "error" ? "bad" : "look"}>
        {problem.line > 0 && `Line ${problem.line}: `}
        {problem.field && <code>{problem.field}</code>} {problem.message}
      </span>
      {problem.hint && <div className="muted">{problem.hint}</div>}
    </div>
  );
}

function Definition({ definition }: { definition: DefinitionView }) {
  const { kind, work, id, action, schedules, changes, steps, stages, items } = definition;
  // What a file owns is not changed from here, so nothing is shown as a change.
  const shownChanges = action === "refused" ? [] : changes;
  return (
    <div className={classes.entry}>
      <div className="row">
        <b>{id}</b>
        <span className="faint">
          {kind === "job" ? work : kind}
          {steps.length > 0 && `, ${counted(steps.length, "step")}`}
          {stages.length > 0 && `, ${stages.join(", ")}`}
          {items !== null && `, ${counted(items, "item")}`}
        </span>
        <span className={classes.action}>{ACTIONS[action]}</span>
      </div>
      {schedules.map((schedule) => (
        <div key={schedule.id} className="muted">
          {schedule.words ?? schedule.id}
          {schedule.next[0] && (
            <>
              , next <MomentText at={schedule.next[0]} />
            </>
          )}
        </div>
      ))}
      {steps.length > 1 && (
        <div className={classes.graph}>
          <GraphBoundary key={steps.length} instead={null}>
            <GraphView steps={steps} label={`Graph of ${id}`} most={360} />
          </GraphBoundary>
        </div>
      )}
      {shownChanges.map((change) => (
        <div key={change.field} className={classes.change}>
          <code>{change.field}</code> <del>{shown(change.before)}</del> <ins>{shown(change.after)}</ins>
        </div>
      ))}
    </div>
  );
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return "not set";
  return typeof value === "string" ? value : JSON.stringify(value);
}
