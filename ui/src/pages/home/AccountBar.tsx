import { Link } from "@tanstack/react-router";
import type { AccountView } from "@/api/types.gen";
import { MARKS } from "@/status/table";
import { TickMark } from "@/ticks/TickMark";
import { type Part, partsOf, unaccounted } from "./account";
import classes from "./home.module.css";

/** What happened to every planned time of the last 24 hours. The numbers are links, and they add up. */
export function AccountBar({ account }: { account: AccountView }) {
  const parts = partsOf(account);
  const rest = unaccounted(account);
  const shown = parts.filter((part) => part.share > 0);
  const most = account.is_complete ? "" : "at least ";
  return (
    <section className={classes.account} aria-label="The last 24 hours">
      <div className={classes.bar} aria-hidden="true">
        {shown.length === 0 && <i className={classes.none} style={{ flexGrow: 1 }} />}
        {shown.map((part) => (
          <i
            key={part.key}
            data-hue={MARKS[part.mark].hue}
            data-hollow={part.key === "missed" || undefined}
            style={{ flexGrow: part.share }}
          />
        ))}
      </div>
      <div className={classes.numbers}>
        <span>Last 24 h:</span>
        <Link to="/ledger" search={{ since: account.since }}>
          <b>
            {most}
            {account.planned.toLocaleString("en")}
          </b>
          {account.planned === 1 ? "tick" : "ticks"} planned
        </Link>
        {parts
          .filter((part) => part.count > 0 || part.key === "ran" || part.key === "missed")
          .map((part) => (
            <PartLink key={part.key} part={part} since={account.since} />
          ))}
        <span className={classes.rest} data-bad={rest !== 0 || undefined}>
          <b>{rest.toLocaleString("en")}</b> unaccounted
        </span>
      </div>
    </section>
  );
}

function PartLink({ part, since }: { part: Part; since: string }) {
  const content = (
    <>
      <svg width={7} height={14} aria-hidden="true">
        <TickMark mark={part.mark} x={0} y={0} width={5} height={14} />
      </svg>
      <b>{part.count.toLocaleString("en")}</b>
      {part.word}
    </>
  );
  if (part.key === "failed_runs") {
    return (
      <Link to="/runs" search={{ failed: true, since }}>
        {content}
      </Link>
    );
  }
  return (
    <Link to="/ledger" search={part.key === "late" ? { outcome: "ran", since } : { outcome: part.key, since }}>
      {content}
    </Link>
  );
}
