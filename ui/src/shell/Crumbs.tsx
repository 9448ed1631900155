import { Link, useRouterState } from "@tanstack/react-router";
import { PAGES } from "./pages";
import classes from "./TopBar.module.css";

/** Words of paths that are no page of the rail. */
const PARENTS: Record<string, { to: "/jobs" | "/ledger" | "/chains"; title: string }> = {
  schedules: { to: "/ledger", title: "Ledger" },
  "chain-classes": { to: "/chains", title: "Chains" },
  new: { to: "/jobs", title: "Jobs" },
};

/** The path of the page, made of its address. */
export function Crumbs() {
  const path = useRouterState({ select: (state) => state.location.pathname });
  const [first = "", ...rest] = path.split("/").filter(Boolean);
  const page = PARENTS[first] ?? PAGES.find((one) => one.to === `/${first}`);
  if (!page) return <div className={classes.crumbs} />;
  if (rest.length === 0) {
    return (
      <div className={classes.crumbs}>
        <b>{page.title}</b>
      </div>
    );
  }
  const last = first === "new" ? ["New"] : rest.map(decodeURIComponent);
  return (
    <nav className={classes.crumbs} aria-label="Where this page is">
      <Link to={page.to}>{page.title}</Link>
      {last.map((word, index) => (
        <span key={word} className={classes.crumbs} style={{ flex: index === last.length - 1 ? 1 : "none" }}>
          <span aria-hidden="true">/</span>
          {index === last.length - 1 ? <b>{word}</b> : word}
        </span>
      ))}
    </nav>
  );
}
