import type { ExplainedPath } from "@/api/types.gen";
import { changeOf } from "./change";
import classes from "./Stages.module.css";
import { type Stage, stageWords } from "./stages";

/** What each stage decided about a tick and its run, which stage binds, and what can change it. */
export function PathStages({ path }: { path: ExplainedPath }) {
  return (
    <>
      <ol className={classes.stages} aria-label="Stages">
        {path.stages.map((stage) => (
          <StageLine key={keyOf(stage)} stage={stage} />
        ))}
      </ol>
      <p className={classes.change}>
        <span className="faint">Can it change? </span>
        {changeOf(path)}
      </p>
    </>
  );
}

function StageLine({ stage }: { stage: Stage }) {
  const { sentence, facts } = stageWords(stage);
  return (
    <li className={classes.stage} data-binds={stage.state === "binds" || undefined}>
      <div>{sentence}</div>
      {facts && <div className={classes.facts}>{facts}</div>}
    </li>
  );
}

function keyOf(stage: Stage): string {
  return stage.stage === "attempt" ? `attempt ${stage.number}` : stage.stage;
}
