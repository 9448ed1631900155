import { moment } from "@/time/format";

const SHOWN = 3;

/** Return the fires after the first: times if all are on its day, else days: "Mon 26, Tue 27, Wed 28 Oct", or both. Pure. */
export function laterWords(preview: readonly string[], zone: string): string {
  const [first, ...later] = preview.map((at) => moment(at, zone));
  const shown = later.slice(0, SHOWN);
  const last = shown.at(-1);
  if (!first || !last) return "";
  if (shown.every((one) => one.day === first.day)) return shown.map((one) => one.time).join(", ");
  const hasSameTime = shown.every((one) => one.time === first.time);
  if (!hasSameTime) {
    const before = [first, ...shown];
    return shown
      .map((one, index) => (one.day === before[index]?.day ? one.time : `${one.weekday} ${one.time}`))
      .join(", ");
  }
  return shown.map((one) => `${one.weekday} ${one === last ? one.day : one.day.split(" ")[0]}`).join(", ");
}
