import { useQuery } from "@tanstack/react-query";
import { useLocation, useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { runs } from "@/api/queries";
import { LogViewer } from "@/log/LogViewer";
import { formatRange, parseRange } from "@/log/range";
import { Loading } from "@/parts/Loading";
import { StatusIcon } from "@/status/StatusIcon";
import { hasFailed } from "@/status/table";
import classes from "./run.module.css";

interface Props {
  runId: string;
  /** The item, the step or the job. */
  name: string;
}

/** The log of one run, with its lines in the address. */
export function RunLog({ runId, name }: Props) {
  const { data: run, isPending } = useQuery(runs.get(runId));
  const hash = useLocation({ select: (location) => location.hash });
  const navigate = useNavigate({ from: "/runs/$runId" });
  const range = useMemo(() => parseRange(hash), [hash]);
  if (isPending || !run) return <Loading rows={6} />;
  return (
    <div className={classes.log}>
      <LogViewer
        key={runId}
        runId={runId}
        label={name}
        title={
          <>
            <StatusIcon status={run.status} size={14} alone />
            <span className="clip">{name}</span>
          </>
        }
        attempts={run.attempt}
        hasFailed={hasFailed(run.status)}
        range={range}
        onRange={(next) =>
          void navigate({
            search: (old) => old,
            hash: next ? formatRange(next) : "",
            replace: true,
            hashScrollIntoView: false,
            resetScroll: false,
          })
        }
      />
    </div>
  );
}
