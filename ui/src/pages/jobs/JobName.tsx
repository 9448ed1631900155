import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { JobLink } from "@/parts/links";
import classes from "./jobs.module.css";

interface Props {
  id: string;
  kind: string;
  children?: ReactNode;
}

/** A link to the page of a job: workflows and classes of chains have their own. */
export function JobName({ id, kind, children }: Props) {
  if (kind === "chain") {
    return (
      <Link to="/chain-classes/$classId" params={{ classId: id }} className={classes.name}>
        {children ?? id}
      </Link>
    );
  }
  return (
    <span className={classes.name}>
      <JobLink id={id} isWorkflow={kind === "workflow" || kind === "execution"}>
        {children ?? id}
      </JobLink>
    </span>
  );
}
