export interface Difference {
  field: string;
  before: string | null;
  after: string | null;
}

type Document = Record<string, unknown> | null;

/** Return the fields that differ, with dotted names for nested ones. */
export function differences(before: Document, after: Document): Difference[] {
  const [old, current] = [flat(before), flat(after)];
  const names = [...new Set([...old.keys(), ...current.keys()])].sort();
  return names
    .filter((name) => old.get(name) !== current.get(name))
    .map((name) => ({ field: name, before: old.get(name) ?? null, after: current.get(name) ?? null }));
}

function flat(document: Document): Map<string, string> {
  const found = new Map<string, string>();
  const walk = (value: unknown, path: string) => {
    if (value !== null && typeof value === "object" && !Array.isArray(value)) {
      for (const [name, inner] of Object.entries(value)) walk(inner, path ? `${path}.${name}` : name);
    } else if (path) {
      found.set(path, typeof value === "string" ? value : JSON.stringify(value));
    }
  };
  walk(document, "");
  return found;
}
