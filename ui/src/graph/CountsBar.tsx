import { entryOf } from "@/status/table";
import classes from "./graph.module.css";
import type { Count } from "./types";

const SHORT: Record<string, string> = { success: "ok", pending: "left" };

/** The counts of the items of a fanout as a bar, and in words. */
export function CountsBar({ counts }: { counts: readonly Count[] }) {
  const shown = counts.filter((one) => one.count > 0);
  return (
    <div className="grow">
      <div className={classes.bar} aria-hidden="true">
        {shown.map(({ status, count }) => (
          <i key={status} data-hue={status === "pending" ? "none" : entryOf(status).hue} style={{ flexGrow: count }} />
        ))}
      </div>
      <div className={classes.words}>
        {shown.slice(0, 3).map(({ status, count }) => (
          <span key={status} className={entryOf(status).hue === "bad" ? "bad" : undefined}>
            {count.toLocaleString("en")} {SHORT[status] ?? entryOf(status).word}
          </span>
        ))}
      </div>
    </div>
  );
}
