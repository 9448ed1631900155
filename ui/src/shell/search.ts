/** Helpers for the search params of a route: a value that is not valid is left out, the page never breaks. */

type Search = Record<string, unknown>;

export function text(search: Search, name: string): string | undefined {
  const value = search[name];
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function flag(search: Search, name: string): true | undefined {
  return search[name] === true || search[name] === "true" || search[name] === 1 ? true : undefined;
}

export function count(search: Search, name: string): number | undefined {
  const value = Number(search[name]);
  return search[name] !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

export function oneOf<T extends string>(search: Search, name: string, known: readonly T[]): T | undefined {
  return known.find((one) => one === search[name]);
}
