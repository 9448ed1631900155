import { ActionIcon, Tooltip } from "@mantine/core";
import { IconPlayerPause, IconPlayerPlay, IconPlayerTrackNext } from "@tabler/icons-react";
import { useMe } from "@/access/useMe";
import type { JobRow } from "@/api/types.gen";
import { JobMenu } from "./JobMenu";
import { RunNow } from "./RunNow";
import type { JobActions } from "./useJobActions";

interface Props {
  row: JobRow;
  actions: JobActions;
  isRunOpen: boolean;
  onRunOpen: (isOpen: boolean) => void;
}

/** Run now, pause or resume, and a menu of the rest. */
export function RowActions({ row, actions, isRunOpen, onRunOpen }: Props) {
  const { may } = useMe();
  const isPaused = row.paused || row.stopped_at !== null;
  return (
    <>
      {may("operate") && (
        <>
          <RunNow jobId={row.id} isOpen={isRunOpen} onChange={onRunOpen}>
            <Tooltip label="Run now (r)">
              <ActionIcon aria-label={`Run ${row.id} now`} onClick={() => onRunOpen(!isRunOpen)}>
                <IconPlayerPlay size={15} />
              </ActionIcon>
            </Tooltip>
          </RunNow>
          <Tooltip label={isPaused ? "Resume (p)" : "Pause (p)"}>
            <ActionIcon
              aria-label={`${isPaused ? "Resume" : "Pause"} ${row.id}`}
              onClick={() => (isPaused ? actions.resume : actions.pause).mutate(row.id)}
            >
              {isPaused ? <IconPlayerTrackNext size={15} /> : <IconPlayerPause size={15} />}
            </ActionIcon>
          </Tooltip>
        </>
      )}
      <JobMenu id={row.id} kind={row.kind} source={row.source} scheduleId={row.schedules[0]?.schedule_id} />
    </>
  );
}
