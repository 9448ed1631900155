import { Button } from "@mantine/core";
import { useMe } from "@/access/useMe";
import { api } from "@/api/client";
import { useAction } from "@/api/mutations";
import type { ScheduleView } from "@/api/types.gen";

export function PauseButton({ schedule: { schedule_id, paused } }: { schedule: ScheduleView }) {
  const { may } = useMe();
  const pause = useAction({
    send: (isPaused: boolean) =>
      api.post("/api/schedules/{schedule_id}/pause", { path: { schedule_id }, body: { paused: isPaused } }),
    changes: ["schedules", "jobs", "ticks", "status"],
    done: (_, isPaused) =>
      isPaused ? `${schedule_id} is paused: its ticks are skipped.` : `${schedule_id} fires again.`,
  });
  if (!may("operate")) return null;
  return (
    <Button loading={pause.isPending} onClick={() => pause.mutate(!paused)}>
      {paused ? "Resume" : "Pause"}
    </Button>
  );
}
