import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { workflows } from "@/api/queries";
import { GraphBoundary } from "@/graph/GraphBoundary";
import { GraphView } from "@/graph/GraphView";
import { ErrorNote } from "@/parts/ErrorNote";
import { Loading } from "@/parts/Loading";
import { shortMoment } from "@/time/format";
import { useZone } from "@/time/zone";
import { Definition } from "./Definition";
import { Executions } from "./Executions";
import { Gantt } from "./Gantt";
import { Header } from "./Header";
import { Schedules } from "./Schedules";
import { StepDrawer } from "./StepDrawer";
import { Steps } from "./Steps";
import { VIEWS, type WorkflowPart, type WorkflowSearch } from "./search";
import { statesOf } from "./states";
import { useFanouts, useItems, useStepRuns } from "./useStepRuns";
import { Versions } from "./Versions";
import classes from "./workflow.module.css";

const LABELS: Record<WorkflowPart, string> = { graph: "Graph", steps: "Steps", gantt: "Gantt" };

/** A workflow and one execution of it, the newest unless the address names another one. */
export function WorkflowPage() {
  const { workflowId } = useParams({ from: "/workflows/$workflowId" });
  const search = useSearch({ from: "/workflows/$workflowId" });
  const navigate = useNavigate({ from: "/workflows/$workflowId" });
  const zone = useZone();
  const query = useQuery(
    workflows.get(workflowId, { execution: search.execution ?? null, version: search.version ?? null }),
  );
  const page = query.data;
  const execution = page?.execution;
  const steps = useMemo(() => page?.steps ?? [], [page]);
  const { runs, areAll } = useStepRuns(execution?.execution.id);
  const fanouts = useFanouts(execution, steps);
  const states = useMemo(() => {
    const at = (time: string) => shortMoment(time, zone, Date.now());
    return execution ? statesOf(execution, steps, { runs, areAll, fanouts, at }) : undefined;
  }, [execution, steps, runs, areAll, fanouts, zone]);
  const unfolded = execution?.execution.steps.find((step) => step.name === search.unfold);
  const items = useItems(search.unfold, unfolded?.run_id, fanouts.get(unfolded?.run_id ?? ""));
  const change = (changed: Partial<WorkflowSearch>) =>
    void navigate({ search: (old) => ({ ...old, ...changed }), replace: true });

  if (query.error) return <ErrorNote error={query.error} onRetry={() => void query.refetch()} />;
  if (!page) return <Loading rows={12} />;
  const view = search.view ?? "graph";
  const select = (step: string) =>
    change({ step: step === search.step ? undefined : step, item: undefined, status: undefined });
  const table = <Steps page={page} states={states} runs={runs} open={search.step} onOpen={select} />;
  return (
    <>
      <Header page={page} search={search} />
      <div className={classes.views}>
        <SegmentedControl
          aria-label="View"
          value={view}
          data={VIEWS.filter((one) => one !== "gantt" || execution).map((value) => ({ value, label: LABELS[value] }))}
          onChange={(value) => change({ view: VIEWS.find((one) => one === value) })}
        />
      </div>
      {!execution && (
        <p className={classes.elsewhere}>
          What is drawn is its definition. Start it here, give it a schedule, or write{" "}
          <code>foliot workflows start {page.id}</code>
        </p>
      )}
      {view === "graph" && (
        <GraphBoundary instead={table}>
          <GraphView
            key={`${page.id} ${page.version}`}
            label={`Graph of ${page.id}`}
            steps={steps}
            states={states}
            items={items}
            selected={search.step}
            onSelect={select}
            onFold={(step) => change({ unfold: step === search.unfold ? undefined : step })}
          />
        </GraphBoundary>
      )}
      {view === "steps" && table}
      {view === "gantt" && execution && (
        <Gantt page={page} runs={runs} states={states} open={search.step} onOpen={select} />
      )}
      <Executions page={page} />
      <Schedules page={page} />
      <Versions page={page} compare={search.compare} onCompare={(compare) => change({ compare })} />
      <Definition page={page} />
      {search.step && <StepDrawer key={search.step} page={page} name={search.step} states={states} onChange={change} />}
    </>
  );
}
