import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { one, workflows } from "@/api/queries";
import type { ListedVersion, WorkflowPage } from "@/api/types.gen";
import { useList } from "@/api/useList";
import { ErrorNote } from "@/parts/ErrorNote";
import { Loading } from "@/parts/Loading";
import { Section } from "@/parts/Section";
import { MomentText } from "@/parts/times";
import { counted } from "@/time/format";
import { changedLines } from "./diff";
import classes from "./workflow.module.css";

const MOST = 12;

interface Props {
  page: WorkflowPage;
  compare: number | undefined;
  onCompare: (version: number | undefined) => void;
}

/** The versions, newest first, each with what it changed. */
export function Versions({ page, compare, onCompare }: Props) {
  const list = useList(workflows.versions(page.id));
  if (list.items.length === 0) return null;
  return (
    <Section title="Versions" note={list.items.length}>
      <ul>
        {list.items.slice(0, MOST).map((version, index) => (
          <li key={version.version}>
            <Line
              page={page}
              version={version}
              before={list.items[index + 1]}
              compare={compare}
              onCompare={onCompare}
            />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Line({
  page,
  version,
  before,
  compare,
  onCompare,
}: Props & { version: ListedVersion; before: ListedVersion | undefined }) {
  const isOpen = compare === version.version && before !== undefined;
  return (
    <>
      <div className={classes.line}>
        <Link
          from="/workflows/$workflowId"
          to="/workflows/$workflowId"
          params={{ workflowId: page.id }}
          search={(old) => ({
            ...old,
            version: version.version,
            execution: undefined,
            step: undefined,
            item: undefined,
            status: undefined,
          })}
          className={classes.link}
        >
          version {version.version}
        </Link>
        <span className="muted">
          <MomentText at={version.created_at} />
        </span>
        <span className="faint grow clip">
          {version.steps === null ? version.description : counted(version.steps, "step")}
        </span>
        {before && (
          <button
            type="button"
            className={classes.name}
            aria-expanded={isOpen}
            onClick={() => onCompare(isOpen ? undefined : version.version)}
          >
            {isOpen ? "Hide changes" : `Changes since version ${before.version}`}
          </button>
        )}
      </div>
      {isOpen && <Changes workflowId={page.id} from={before.version} to={version.version} />}
    </>
  );
}

function Changes({ workflowId, from, to }: { workflowId: string; from: number; to: number }) {
  const before = useQuery(tomlOf(workflowId, from));
  const after = useQuery(tomlOf(workflowId, to));
  const error = before.error ?? after.error;
  if (error) return <ErrorNote error={error} />;
  if (!before.data || !after.data) return <Loading rows={4} />;
  const lines = changedLines(before.data.toml, after.data.toml);
  if (lines.length === 0) return <p className="muted">The two texts are equal.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard must be able to scroll it
    <pre className={classes.diff} tabIndex={0}>
      {lines.map((line) => {
        const key = `${line.kind}${line.before ?? ""} ${line.after ?? ""}`;
        if (line.kind === "removed") return <del key={key}>{`- ${line.text}`}</del>;
        if (line.kind === "added") return <ins key={key}>{`+ ${line.text}`}</ins>;
        return <span key={key}>{line.kind === "gap" ? "  …" : `  ${line.text}`}</span>;
      })}
    </pre>
  );
}

export const tomlOf = (workflow_id: string, version: number) =>
  one("workflows", "/api/workflows/{workflow_id}/toml", { path: { workflow_id }, query: { version } });
