import { JobLink, RunLink, ScheduleLink } from "@/parts/links";

/** What an entry is about, as a link if it has a page. */
export function Subject({ kind, id }: { kind: string; id: string }) {
  return (
    <span className="row clip">
      <span className="faint">{kind.replace(/_/g, " ")}</span> <Target kind={kind} id={id} />
    </span>
  );
}

function Target({ kind, id }: { kind: string; id: string }) {
  switch (kind) {
    case "job":
      return <JobLink id={id} />;
    case "workflow":
      return <JobLink id={id} isWorkflow />;
    case "run":
      return <RunLink id={id} />;
    case "schedule":
      return <ScheduleLink id={id} />;
    default:
      return <span className="clip">{id}</span>;
  }
}
