import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ticks } from "@/api/queries";
import type { JobRow } from "@/api/types.gen";
import { PathStages } from "@/explain/PathStages";
import { Drawer } from "@/parts/Drawer";
import { ErrorNote } from "@/parts/ErrorNote";
import { KeyValue } from "@/parts/KeyValue";
import { Loading } from "@/parts/Loading";
import { ScheduleLink } from "@/parts/links";
import { Section } from "@/parts/Section";
import { MarkWord, StatusWord } from "@/status/StatusWord";
import { MARKS, REASONS } from "@/status/table";
import { type Slot, settledSlots } from "@/ticks/slots";
import { counted, fullMoment } from "@/time/format";
import { useZone } from "@/time/zone";
import { JobName } from "./JobName";

/** The name of a tick in the URL. */
export const tickName = (slot: Pick<Slot, "scheduleId" | "at">): string => `${slot.scheduleId ?? ""}@${slot.at}`;

interface Found {
  row: JobRow;
  slots: Slot[];
  index: number;
}

/** Return the tick of the URL among the rows that are shown. Pure. */
export function findTick(rows: readonly JobRow[], name: string): Found | null {
  for (const row of rows) {
    const slots = settledSlots(row.strip.ticks);
    const index = slots.findIndex((slot) => tickName(slot) === name);
    if (index >= 0) return { row, slots, index };
  }
  return null;
}

interface Props extends Found {
  onChange: (tick: string | undefined) => void;
}

/** One tick: what was decided, why, and where to read on. */
export function TickDrawer({ row, slots, index, onChange }: Props) {
  const zone = useZone();
  const slot = slots[index];
  if (!slot) return null;
  const goTo = (to: number) => {
    const other = slots[to];
    return other ? () => onChange(tickName(other)) : undefined;
  };
  return (
    <Drawer
      title={fullMoment(slot.at, zone)}
      onClose={() => onChange(undefined)}
      onPrevious={goTo(index - 1)}
      onNext={goTo(index + 1)}
    >
      <div className="row" style={{ marginBottom: 8 }}>
        <MarkWord mark={slot.mark} />
        {slot.reason && <code className="faint">{slot.reason}</code>}
      </div>
      <p style={{ marginBottom: 16 }}>{slot.reason ? REASONS[slot.reason] : MARKS[slot.mark].meaning}</p>
      <KeyValue
        facts={[
          ["Job", <JobName key="job" id={row.id} kind={row.kind} />],
          ["Schedule", slot.scheduleId && <ScheduleLink key="schedule" id={slot.scheduleId} />],
          [
            "Planned times",
            slot.count > 1 && `${counted(slot.count, "time")}, until ${fullMoment(slot.until ?? slot.at, zone)}`,
          ],
          ["Run", slot.status && <StatusWord key="run" status={slot.status} />],
        ]}
      />
      {slot.scheduleId && slot.mark !== "planned" && <Why scheduleId={slot.scheduleId} at={slot.at} />}
      <div className="row" style={{ marginTop: 16 }}>
        {slot.runId && (
          <Button renderRoot={(props) => <Link to="/runs/$runId" params={{ runId: slot.runId ?? "" }} {...props} />}>
            Open the run
          </Button>
        )}
        {slot.scheduleId && (
          <Button
            renderRoot={(props) => (
              <Link to="/schedules/$scheduleId" params={{ scheduleId: slot.scheduleId ?? "" }} {...props} />
            )}
          >
            Open the ledger
          </Button>
        )}
      </div>
    </Drawer>
  );
}

/** What each stage decided about the tick. */
function Why({ scheduleId, at }: { scheduleId: string; at: string }) {
  const { data, error, isPending, refetch } = useQuery(ticks.explain({ schedule: scheduleId, at }));
  return (
    <Section title="Why">
      <ErrorNote error={error} onRetry={() => void refetch()} />
      {isPending && <Loading rows={4} />}
      {data && <PathStages path={data} />}
    </Section>
  );
}
