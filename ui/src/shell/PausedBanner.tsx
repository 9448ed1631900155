import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMe } from "@/access/useMe";
import { server } from "@/api/queries";
import { MomentText } from "@/parts/times";
import classes from "./Shell.module.css";
import { usePauseAll } from "./usePauseAll";

/** Says on every page that all schedules are paused. */
export function PausedBanner() {
  const { may } = useMe();
  const { data: status } = useQuery(server.status());
  const { resume } = usePauseAll();
  const paused = status?.paused;
  if (!paused) return null;
  return (
    <div className={classes.banner} role="status">
      All schedules have been paused since <MomentText at={paused.since} /> by {paused.by}
      {paused.note && `: ${paused.note}`}
      {paused.until && (
        <>
          , until <MomentText at={paused.until} />
        </>
      )}
      .{" "}
      {may("operate") && (
        <Button size="compact-xs" loading={resume.isPending} onClick={() => resume.mutate(undefined)}>
          Resume
        </Button>
      )}
    </div>
  );
}
