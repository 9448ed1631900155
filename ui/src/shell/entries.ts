/** What the palette finds. Pure. */

export interface Entry {
  id: string;
  title: string;
  /** "page", "action" or the kind of a job. */
  kind: string;
  /** Asked before it is done. */
  question?: string;
  run: () => void;
}

const MOST = 50;

/** Return the entries that match a text, best first: the beginning of a title, of a word, any place, letters in order. */
export function found(entries: readonly Entry[], text: string): Entry[] {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return entries.slice(0, MOST);
  return entries
    .map((entry) => ({ entry, rank: rank(entry.title.toLowerCase(), wanted) }))
    .filter(({ rank }) => rank < Number.POSITIVE_INFINITY)
    .sort((a, b) => a.rank - b.rank)
    .slice(0, MOST)
    .map(({ entry }) => entry);
}

function rank(title: string, wanted: string): number {
  const at = title.indexOf(wanted);
  if (at === 0) return 0;
  if (at > 0) return /[\s._:@-]/.test(title[at - 1] ?? "") ? 1 : 2;
  return hasInOrder(title, wanted) ? 3 : Number.POSITIVE_INFINITY;
}

function hasInOrder(title: string, wanted: string): boolean {
  let from = 0;
  for (const letter of wanted) {
    const at = title.indexOf(letter, from);
    if (at < 0) return false;
    from = at + 1;
  }
  return true;
}
