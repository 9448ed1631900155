import type { ChainStepView } from "@/api/types.gen";
import { LogViewer } from "@/log/LogViewer";
import { spent } from "@/pages/chains/outcome";
import { Drawer } from "@/parts/Drawer";
import { KeyValue } from "@/parts/KeyValue";
import { RunLink } from "@/parts/links";
import { MomentText } from "@/parts/times";
import { StatusWord } from "@/status/StatusWord";
import { hasFailed } from "@/status/table";
import { Took } from "./ChainSteps";
import classes from "./chain.module.css";

interface Props {
  step: ChainStepView;
  onClose: () => void;
  onPrevious: (() => void) | undefined;
  onNext: (() => void) | undefined;
}

/** One step of a chain: why it ran, what it decided, its log. */
export function StepDrawer({ step, ...drawer }: Props) {
  return (
    <Drawer title={step.key} {...drawer}>
      <p className={classes.status}>
        <StatusWord status={step.status} />
        {step.decision && (
          <span>
            decided <b>{step.decision}</b>
          </span>
        )}
      </p>
      <KeyValue
        facts={[
          ["Run", <RunLink key="run" id={step.run_id} />],
          ["Because", step.cause],
          ["Reason", step.reason ? step.reason.replaceAll("_", " ") : null],
          ["Due", <MomentText key="due" at={step.due_at} full />],
          ["Started", step.started_at && <MomentText key="start" at={step.started_at} full />],
          ["Took", step.started_at && <Took key="took" step={step} />],
          ["Depth", step.depth],
          ["Attempt", step.attempt],
          ["Spent", spent(step) || null],
        ]}
      />
      {step.started_at && (
        <div className={classes.log}>
          <LogViewer
            key={step.run_id}
            runId={step.run_id}
            title="Log"
            label={step.key}
            hasFailed={hasFailed(step.status as never)}
          />
        </div>
      )}
    </Drawer>
  );
}
