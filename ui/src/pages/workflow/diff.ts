/** The lines that differ between two texts, with some lines around them. Pure. */

export interface DiffLine {
  kind: "same" | "added" | "removed" | "gap";
  text: string;
  /** Numbers of the line in the two texts. */
  before: number | null;
  after: number | null;
}

const AROUND = 3;
/** Above this, the texts are compared from both ends only. */
const MOST_CELLS = 4_000_000;

export function changedLines(before: string, after: string): DiffLine[] {
  const all = diff(before.trimEnd().split("\n"), after.trimEnd().split("\n"));
  const shown: DiffLine[] = [];
  let isGap = false;
  all.forEach((line, index) => {
    const isNear = all.slice(Math.max(0, index - AROUND), index + AROUND + 1).some((one) => one.kind !== "same");
    if (isNear) shown.push(line);
    else if (!isGap && shown.length > 0) shown.push({ kind: "gap", text: "", before: index, after: null });
    isGap = !isNear;
  });
  while (shown.at(-1)?.kind === "gap") shown.pop();
  return shown;
}

function diff(a: readonly string[], b: readonly string[]): DiffLine[] {
  let begin = 0;
  while (begin < a.length && begin < b.length && a[begin] === b[begin]) begin++;
  let end = 0;
  while (end < a.length - begin && end < b.length - begin && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const lines: DiffLine[] = [];
  const same = (i: number, j: number) => lines.push({ kind: "same", text: a[i] as string, before: i, after: j });
  for (let index = 0; index < begin; index++) same(index, index);
  lines.push(...middle(a, b, begin, a.length - end, b.length - end));
  for (let index = end; index > 0; index--) same(a.length - index, b.length - index);
  return lines;
}

/** The longest common lines of what is left between equal begins and ends. */
function middle(a: readonly string[], b: readonly string[], begin: number, endA: number, endB: number): DiffLine[] {
  const [rows, columns] = [endA - begin, endB - begin];
  const isLarge = rows * columns > MOST_CELLS;
  const width = columns + 1;
  const length = new Uint32Array(isLarge ? 0 : (rows + 1) * width);
  const at = (i: number, j: number) => length[i * width + j] as number;
  if (!isLarge)
    for (let i = rows - 1; i >= 0; i--)
      for (let j = columns - 1; j >= 0; j--)
        length[i * width + j] =
          a[begin + i] === b[begin + j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < rows || j < columns) {
    const [left, right] = [begin + i, begin + j];
    if (!isLarge && i < rows && j < columns && a[left] === b[right]) {
      lines.push({ kind: "same", text: a[left] as string, before: left, after: right });
      i++;
      j++;
    } else if (i < rows && (isLarge || j === columns || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ kind: "removed", text: a[left] as string, before: left, after: null });
      i++;
    } else {
      lines.push({ kind: "added", text: b[right] as string, before: null, after: right });
      j++;
    }
  }
  return lines;
}
