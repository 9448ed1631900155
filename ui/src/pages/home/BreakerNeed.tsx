import { Link } from "@tanstack/react-router";
import { useMe } from "@/access/useMe";
import { api } from "@/api/client";
import { useAction } from "@/api/mutations";
import type { ClassView } from "@/api/types.gen";
import { JobName } from "@/pages/jobs/JobName";
import { Confirm } from "@/parts/Confirm";
import { RunLink } from "@/parts/links";
import { Countdown, MomentText, RelativeTime } from "@/parts/times";
import { StatusIcon } from "@/status/StatusIcon";
import { Act } from "./Act";
import { Need } from "./Need";

/** An open breaker of a class of chains. */
export function BreakerNeed({ breaker }: { breaker: ClassView }) {
  const { may } = useMe();
  const reset = useAction({
    send: () =>
      api.post("/api/chain-classes/{class_id}/reset", {
        path: { class_id: breaker.id },
        body: { reason: "reset on the home page" },
      }),
    changes: ["overview", "chain-classes", "chains", "status"],
    done: () => `The breaker of ${breaker.id} is closed`,
  });
  return (
    <Need
      icon={<StatusIcon status="open" alone />}
      title={<JobName id={breaker.id} kind="chain" />}
      kind={
        <>
          chain class · <RelativeTime at={breaker.opened_at} />
        </>
      }
      side={
        breaker.resume_at && (
          <span className="muted">
            resumes in <Countdown at={breaker.resume_at} />
          </span>
        )
      }
      actions={
        <>
          {may("operate") && (
            <Confirm
              target={(open) => (
                <Act isQuiet onClick={open}>
                  Reset
                </Act>
              )}
              title={`Close the breaker of ${breaker.id}?`}
              text="New chains start again before its cooldown is over."
              action="Reset"
              onConfirm={() => reset.mutate(undefined)}
            />
          )}
          <Act asLink={(props) => <Link to="/chain-classes/$classId" params={{ classId: breaker.id }} {...props} />}>
            See chains
          </Act>
        </>
      }
    >
      Breaker opened at <MomentText at={breaker.opened_at} />
      {breaker.cause && (
        <>
          : <b>{breaker.cause}</b>
        </>
      )}
      .{" "}
      {breaker.run_ids.length > 0 && (
        <>
          Runs: <Runs ids={breaker.run_ids} />.{" "}
        </>
      )}
      {breaker.resume_at && (
        <>
          New chains are refused until <MomentText at={breaker.resume_at} />.
        </>
      )}
    </Need>
  );
}

function Runs({ ids }: { ids: readonly string[] }) {
  return ids.slice(-3).map((id, index) => (
    <span key={id}>
      {index > 0 && ", "}
      <RunLink id={id} />
    </span>
  ));
}
