import { useQuery } from "@tanstack/react-query";
import { runs } from "@/api/queries";
import type { RunView, WorkflowPage, WorkflowStepView } from "@/api/types.gen";
import { CountsBar } from "@/graph/CountsBar";
import { kindWord } from "@/graph/KindIcon";
import type { NodeState } from "@/graph/types";
import { LogViewer } from "@/log/LogViewer";
import { Code } from "@/parts/Code";
import { Drawer } from "@/parts/Drawer";
import { KeyValue } from "@/parts/KeyValue";
import { JobLink, RunLink } from "@/parts/links";
import { Note } from "@/parts/Note";
import { Duration, MomentText } from "@/parts/times";
import { StatusWord } from "@/status/StatusWord";
import { hasFailed } from "@/status/table";
import { StepActions } from "./StepActions";
import { StepItems } from "./StepItems";
import { afterWords } from "./Steps";
import type { WorkflowSearch } from "./search";
import classes from "./workflow.module.css";

interface Props {
  page: WorkflowPage;
  name: string;
  states: ReadonlyMap<string, NodeState> | undefined;
  onChange: (change: Partial<WorkflowSearch>) => void;
}

/** One step: its status and why, what went in and out, its log, and what can be done with it. */
export function StepDrawer({ page, name, states, onChange }: Props) {
  const index = page.steps.findIndex((step) => step.name === name);
  const step = page.steps[index];
  const goTo = (to: number) => {
    const next = page.steps[to];
    return index >= 0 && next ? () => onChange({ step: next.name, item: undefined, status: undefined }) : undefined;
  };
  return (
    <Drawer
      title={name}
      onClose={() => onChange({ step: undefined, item: undefined, status: undefined })}
      onPrevious={goTo(index - 1)}
      onNext={goTo(index + 1)}
    >
      {step ? (
        <Step page={page} step={step} index={index} state={states?.get(name)} />
      ) : (
        <Note>
          Version {page.version} has no step {name}.
        </Note>
      )}
    </Drawer>
  );
}

interface StepProps {
  page: WorkflowPage;
  step: WorkflowStepView;
  index: number;
  state: NodeState | undefined;
}

function Step({ page, step, index, state }: StepProps) {
  const view = page.execution?.execution.steps.find((one) => one.name === step.name);
  const runId = view?.run_id ?? undefined;
  const query = useQuery({ ...runs.page(runId ?? ""), enabled: runId !== undefined });
  const run = query.data?.run;
  const definition = definitionOf(page, step.name);
  const error = run?.error_message ?? view?.error;
  const then = page.steps.flatMap((one) =>
    one.after
      .filter((edge) => edge.step === step.name)
      .map((edge) => (edge.words === "success" ? one.name : `${one.name} (${edge.words})`)),
  );
  return (
    <>
      <p className={classes.status}>
        {state ? <StatusWord status={state.status} /> : <span className="muted">{kindWord(step.kind)}</span>}
        {state?.note && <span className="muted">{state.note}</span>}
        <span className="faint">
          step {index + 1} of {page.steps.length}
        </span>
      </p>
      <StepActions page={page} step={step} state={state} run={run} />
      {error && (
        <Note hue={state?.status === "skipped" ? "look" : "bad"}>
          <span className={classes.error}>{error.trim()}</span>
        </Note>
      )}
      {state?.counts && <CountsBar counts={state.counts} />}
      {runId && step.kind === "fanout" && (
        <>
          {query.data?.fanout && <StepItems runId={runId} fanout={query.data.fanout} />}
          <p>
            <RunLink id={runId}>
              <span className={classes.link}>All items with search, and the reducer</span>
            </RunLink>
          </p>
        </>
      )}
      <div className={classes.facts}>
        <KeyValue
          facts={[
            ["Run", runId && <RunLink key="run" id={runId} />],
            ["Started", run?.started_at && <MomentText key="start" at={run.started_at} full />],
            [
              "Duration",
              run?.started_at && (
                <Duration key="duration" seconds={run.duration} since={run.finished_at ? null : run.started_at} />
              ),
            ],
            ["Attempt", run && attemptWords(run)],
            ["Worker", query.data?.timeline.findLast((phase) => phase.worker)?.worker ?? run?.worker_id?.slice(-8)],
            ["After", afterWords(step).replace(/^after /, "")],
            ["Then", then.length > 0 && then.join(", ")],
            ["Job", step.job && <JobLink key="job" id={step.job} />],
            ["What", text(definition?.description)],
            ["Command", definition?.command !== undefined && <code key="c">{text(definition.command)}</code>],
            ["URL", definition?.url !== undefined && <code key="u">{text(definition.url)}</code>],
            [
              "Items from",
              definition?.inputs_from !== undefined && <code key="i">{text(definition.inputs_from)}</code>,
            ],
          ]}
        />
      </div>
      <Value title="Input" value={run?.input_payload} />
      {step.kind !== "fanout" && <Value title="Output" value={run?.output_payload} />}
      {runId && run && step.kind !== "approval" && step.kind !== "fanout" && (
        <div className={classes.log}>
          <LogViewer
            key={runId}
            runId={runId}
            title="Log"
            label={step.name}
            attempts={run.attempt}
            hasFailed={hasFailed(run.status)}
          />
        </div>
      )}
    </>
  );
}

function Value({ title, value }: { title: string; value: unknown }) {
  if (value === null || value === undefined) return null;
  return (
    <>
      <h3 className={classes.valueTitle}>{title}</h3>
      <Code text={typeof value === "string" ? value : JSON.stringify(value, null, 2)} wrap />
    </>
  );
}

function attemptWords(run: RunView): string | null {
  if (run.attempt === 0) return null;
  return run.lost > 0 ? `${run.attempt}, ${run.lost} lost` : String(run.attempt);
}

/** The step in the document of the version. */
export function definitionOf(page: WorkflowPage, name: string): Record<string, unknown> | undefined {
  const steps = page.document?.steps;
  if (!Array.isArray(steps)) return undefined;
  return steps.find((one: { name?: unknown }) => one?.name === name) as Record<string, unknown> | undefined;
}

function text(value: unknown): string | null {
  if (value === undefined || value === null || value === "") return null;
  return typeof value === "string" ? value : JSON.stringify(value);
}
