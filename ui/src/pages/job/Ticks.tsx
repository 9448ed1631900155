import { useMediaQuery } from "@mantine/hooks";
import { Link } from "@tanstack/react-router";
import type { JobRow } from "@/api/types.gen";
import { JobStrip } from "@/pages/jobs/JobStrip";
import { Section } from "@/parts/Section";
import { type Slot, settledSlots } from "@/ticks/slots";
import classes from "./job.module.css";
import { tickWords } from "./ticks";

/** The strip of the job, large where there is room. */
export function Ticks({ row, onOpen }: { row: JobRow; onOpen: (slot: Slot) => void }) {
  const isLarge = useMediaQuery("(min-width: 1030px)", true, { getInitialValueInEffect: false });
  const first = row.schedules[0];
  return (
    <Section
      title="Ticks"
      note={tickWords(settledSlots(row.strip.ticks))}
      more={
        first && row.schedule_count === 1 ? (
          <Link to="/schedules/$scheduleId" params={{ scheduleId: first.schedule_id }}>
            Ledger
          </Link>
        ) : (
          <Link to="/ledger" search={{ name: row.id }}>
            Ledger
          </Link>
        )
      }
      plain
    >
      <div className={classes.strip}>
        <JobStrip row={row} size={isLarge ? "large" : "list"} onOpen={onOpen} />
      </div>
    </Section>
  );
}
