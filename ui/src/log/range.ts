/** Lines of a log in the address: "#L120" or "#L120-L140". */

export interface LineRange {
  first: number;
  last: number;
}

const FORM = /^#?L(\d{1,12})(?:-L?(\d{1,12}))?$/;

export function parseRange(hash: string): LineRange | undefined {
  const [, first, last = first] = FORM.exec(hash) ?? [];
  const [one, other] = [Number(first), Number(last)];
  if (!(one >= 1) || !(other >= 1)) return undefined;
  return { first: Math.min(one, other), last: Math.max(one, other) };
}

export const formatRange = ({ first, last }: LineRange): string =>
  first === last ? `L${first}` : `L${first}-L${last}`;

/** Return the range after a click on the number of a line; with shift it is extended to it. */
export function clickedRange(before: LineRange | undefined, line: number, isExtended: boolean): LineRange {
  if (!isExtended || !before) return { first: line, last: line };
  return line < before.first ? { first: line, last: before.last } : { first: before.first, last: line };
}

export const isInRange = (range: LineRange | undefined, line: number): boolean =>
  range !== undefined && line >= range.first && line <= range.last;
