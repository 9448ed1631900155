import { Link } from "@tanstack/react-router";
import type { ExecutionPage } from "@/api/types.gen";
import { summaryOf } from "@/pages/workflow/states";
import { Section } from "@/parts/Section";
import { Duration } from "@/parts/times";
import { StatusWord } from "@/status/StatusWord";
import classes from "./workflows.module.css";

const MOST = 8;

/** Executions that have not ended, those that wait for a person first. */
export function OpenExecutions({ items }: { items: readonly ExecutionPage[] }) {
  if (items.length === 0) return null;
  const sorted = [...items].sort((a, b) => Number(Boolean(answerOf(b))) - Number(Boolean(answerOf(a))));
  return (
    <Section title="Open executions" note={items.length}>
      <ul className={classes.open}>
        {sorted.slice(0, MOST).map((page) => {
          const { execution } = page;
          const step = answerOf(page);
          return (
            <li key={execution.id}>
              <StatusWord status={step ? "waits_for_approval" : execution.status} />
              <Link
                to="/workflows/$workflowId"
                params={{ workflowId: execution.workflow_id }}
                search={{ execution: execution.id, ...(step ? { step } : {}) }}
              >
                {execution.workflow_id}
                {step && ` / ${step}`}
              </Link>
              <span className="muted grow">{summaryOf(page)}</span>
              <span className="faint">
                <Duration since={execution.started_at} />
              </span>
            </li>
          );
        })}
      </ul>
    </Section>
  );
}

/** The step that waits for a person. */
function answerOf(page: ExecutionPage): string | undefined {
  return Object.entries(page.why_steps).find(([, why]) => why?.code === "waits_for_answer")?.[0];
}
