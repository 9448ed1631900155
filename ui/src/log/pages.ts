/** The lines of a log that are in memory: pages around the view. Far ones are dropped, so memory stays the same. */
import type { LogLine } from "@/api/types.gen";

export const PAGE = 200;
export const MOST_PAGES = 16;

export const pageOf = (line: number): number => Math.floor((line - 1) / PAGE);

export class Pages {
  private readonly pages = new Map<number, (LogLine | undefined)[]>();

  get count(): number {
    return this.pages.size;
  }

  line(number: number): LogLine | undefined {
    return this.pages.get(pageOf(number))?.[(number - 1) % PAGE];
  }

  add(lines: readonly LogLine[]): void {
    for (const line of lines) {
      const index = pageOf(line.number);
      const page = this.pages.get(index) ?? [];
      page[(line.number - 1) % PAGE] = line;
      this.pages.set(index, page);
    }
  }

  /** Forget a line: the last one may not have been complete. */
  forget(number: number): void {
    const page = this.pages.get(pageOf(number));
    if (page) page[(number - 1) % PAGE] = undefined;
  }

  /** Drop the pages that are farthest from the view. */
  dropFar(first: number, last: number): void {
    const middle = (pageOf(first) + pageOf(last)) / 2;
    const far = [...this.pages.keys()].sort((a, b) => Math.abs(b - middle) - Math.abs(a - middle));
    for (const index of far.slice(0, Math.max(0, far.length - MOST_PAGES))) this.pages.delete(index);
  }

  /** Return what to read for the lines of a view: for each page in or beside it, its first missing line and how many. */
  missing(first: number, last: number, total: number): { first: number; limit: number }[] {
    const margin = PAGE / 2;
    const from = pageOf(Math.max(1, first - margin));
    const upto = pageOf(Math.max(1, Math.min(total, last + margin)));
    const wanted: { first: number; limit: number }[] = [];
    for (let index = from; index <= upto; index++) {
      const begin = index * PAGE + 1;
      const end = Math.min(total, begin + PAGE - 1);
      for (let line = begin; line <= end; line++) {
        if (this.line(line)) continue;
        wanted.push({ first: line, limit: end - line + 1 });
        break;
      }
    }
    // What is in view comes first.
    const distance = (one: { first: number; limit: number }) =>
      one.first <= last && one.first + one.limit > first ? 0 : 1;
    return wanted.sort((a, b) => distance(a) - distance(b));
  }
}
