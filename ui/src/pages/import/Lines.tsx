import type { ImportedLine } from "@/api/types.gen";
import { MomentText } from "@/parts/times";
import { StatusIcon } from "@/status/StatusIcon";
import classes from "./Import.module.css";

/** What each line of a crontab becomes, or why it is left out. */
export function Lines({ lines }: { lines: readonly ImportedLine[] }) {
  return (
    <ul className={classes.lines}>
      {lines.map((line) => (
        <Line key={line.line} line={line} />
      ))}
    </ul>
  );
}

const isTaken = (line: ImportedLine): boolean =>
  line.outcome === "job" && line.action !== "refused" && line.action !== "kept";

/** A job with warnings needs a look; a line that was meant to run something and is left out has failed. */
function statusOf(line: ImportedLine): "success" | "partial" | "failed" | "skipped" {
  if (isTaken(line)) return line.warnings.length > 0 ? "partial" : "success";
  return line.reason ? "failed" : "skipped";
}

function Line({ line }: { line: ImportedLine }) {
  return (
    <li className={classes.line}>
      <StatusIcon status={statusOf(line)} />
      <div>
        <code className={classes.written}>
          {line.line}: {line.text}
        </code>
        {line.job_id && (
          <div>
            <b>{line.job_id}</b> {line.words ?? line.expression}
            {line.next[0] && (
              <span className="faint">
                {" "}
                next <MomentText at={line.next[0]} full />
              </span>
            )}
          </div>
        )}
        {line.reason && (
          <div>
            {line.reason} <span className="muted">{line.hint}</span>
          </div>
        )}
        {line.warnings.map((warning) => (
          <div key={warning.message}>
            <span className="look">{warning.message}</span> <span className="muted">{warning.hint}</span>
          </div>
        ))}
      </div>
    </li>
  );
}
