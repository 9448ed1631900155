import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

/** A link to a run. Its text is the short end of the id, unless other content is given. */
export function RunLink({ id, children }: { id: string; children?: ReactNode }) {
  return (
    <Link to="/runs/$runId" params={{ runId: id }}>
      {children ?? <span className="mono">{id.slice(-8)}</span>}
    </Link>
  );
}

/** A link to a job. A workflow has its own page: `<JobLink id={id} isWorkflow />`. */
export function JobLink({ id, isWorkflow, children }: { id: string; isWorkflow?: boolean; children?: ReactNode }) {
  const content = children ?? id;
  if (isWorkflow) {
    return (
      <Link to="/workflows/$workflowId" params={{ workflowId: id }}>
        {content}
      </Link>
    );
  }
  return (
    <Link to="/jobs/$jobId" params={{ jobId: id }}>
      {content}
    </Link>
  );
}

/** A link to the ledger of a schedule. */
export function ScheduleLink({ id, children }: { id: string; children?: ReactNode }) {
  return (
    <Link to="/schedules/$scheduleId" params={{ scheduleId: id }}>
      {children ?? id}
    </Link>
  );
}
