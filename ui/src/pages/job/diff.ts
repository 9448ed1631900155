type Values = Record<string, unknown> | null;

export interface Difference {
  name: string;
  /** null: it was not there, or is not there any more. */
  before: string | null;
  after: string | null;
}

/** Return the settings that differ, by name. Pure. */
export function differences(before: Values, after: Values): Difference[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].sort();
  return names
    .map((name) => ({ name, before: shown(before?.[name]), after: shown(after?.[name]) }))
    .filter((one) => one.before !== one.after);
}

const shown = (value: unknown): string | null => (value === undefined || value === null ? null : JSON.stringify(value));
