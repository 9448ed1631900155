/** Schedules and kinds in words. Pure. */
import { duration, fullMoment } from "@/time/format";

interface Schedule {
  schedule_type: string;
  schedule_expr: string;
  timezone: string;
  words?: string | null;
  description?: string | null;
}

/** Return when a schedule fires: "at 02:30 every day", "every 30 min", "once, Thu 22 Oct 2026 04:30:00 +02:00". */
export function scheduleWords(schedule: Schedule, zone: string): string {
  const words = schedule.words ?? schedule.description;
  if (words) return withoutZone(words, schedule.timezone);
  switch (schedule.schedule_type) {
    case "interval":
      return `every ${duration(Number(schedule.schedule_expr))}`;
    case "once":
      return `once, ${fullMoment(Number(schedule.schedule_expr), zone)}`;
    case "reboot":
      return "when the server starts";
    default:
      return schedule.schedule_expr;
  }
}

/** The zone has its own place beside the words. */
function withoutZone(words: string, zone: string): string {
  return words.endsWith(`, ${zone}`) ? words.slice(0, -zone.length - 2) : words;
}

/** Return the expression as it is written in a file. */
export function expressionOf({ schedule_type, schedule_expr }: Schedule): string {
  if (schedule_type === "interval") return `every ${duration(Number(schedule_expr))}`;
  return schedule_type === "once" ? "once" : schedule_expr;
}

/** Return the last part of a schedule's id: "tokyo" of "exchange-rates:tokyo". */
export function nameOfSchedule(id: string): string {
  return id.slice(id.lastIndexOf(":") + 1);
}

/** Return a list as English: "a, b and c". */
export function joined(words: readonly string[]): string {
  if (words.length <= 1) return words[0] ?? "";
  return `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

/** Return a usual duration without the seconds that do not matter: "7 min" for 6 min 36 s, "75 s" for 1 min 15 s. */
export function roughly(seconds: number | null): string {
  if (seconds !== null && seconds >= 59.5 && seconds < 99.5) return `${Math.round(seconds)} s`;
  return duration(seconds !== null && seconds >= 99.5 ? Math.round(seconds / 60) * 60 : seconds);
}
