import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ticks } from "@/api/queries";
import { PathStages } from "@/explain/PathStages";
import { Code } from "@/parts/Code";
import { Drawer } from "@/parts/Drawer";
import { ErrorNote } from "@/parts/ErrorNote";
import { Loading } from "@/parts/Loading";
import { fullMoment } from "@/time/format";
import { useZone } from "@/time/zone";

interface Props {
  /** schedule@time */
  name: string;
  note?: string | undefined;
  onClose: () => void;
  onPrevious?: (() => void) | undefined;
  onNext?: (() => void) | undefined;
}

/** Explains one tick, stage by stage. */
export function TickDrawer({ name, note, ...drawer }: Props) {
  const zone = useZone();
  const [schedule, at] = parted(name);
  const query = useQuery(ticks.explain({ schedule, at }));
  const runId = query.data?.run_id;
  return (
    <Drawer title={fullMoment(at, zone)} {...drawer}>
      <p className="muted">
        <Link to="/schedules/$scheduleId" params={{ scheduleId: schedule }}>
          {schedule}
        </Link>
        {note && `, ${note}`}
      </p>
      <ErrorNote error={query.error} onRetry={() => void query.refetch()} />
      {query.isPending && <Loading rows={4} />}
      {query.data && <PathStages path={query.data} />}
      {runId && (
        <Button renderRoot={(props) => <Link to="/runs/$runId" params={{ runId }} {...props} />}>Open the run</Button>
      )}
      <div style={{ marginTop: 16 }}>
        <Code text={`foliot explain ${name}`} wrap />
      </div>
    </Drawer>
  );
}

/** Return the schedule and the time of the name of a tick. The id of a schedule may contain "@". */
export function parted(name: string): [schedule: string, at: string] {
  const place = name.lastIndexOf("@");
  return [name.slice(0, place), name.slice(place + 1)];
}
