/** Ways to start a job from elsewhere. Pure. */
export const FORMS = ["TOML", "CLI", "curl", "Python"] as const;
export type Form = (typeof FORMS)[number];

/** Return the commands that start a job of the server at a URL with a payload. */
export function copyForms(id: string, url: string, payload: unknown): Record<Exclude<Form, "TOML">, string> {
  const json = payload === null ? null : JSON.stringify(payload);
  const body = payload === null ? "{}" : JSON.stringify({ payload });
  return {
    CLI: [`foliot trigger ${quoted(id)}`, json === null ? "" : ` --payload ${quoted(json)}`, " --follow"].join(""),
    curl: [
      `curl -X POST ${quoted(`${url}/api/jobs/${encodeURIComponent(id)}/run`)}`,
      `  -H "Authorization: Bearer $FOLIOT_TOKEN"`,
      `  -H "Content-Type: application/json"`,
      `  -d ${quoted(body)}`,
    ].join(" \\\n"),
    Python: [
      "from foliot.client import Client",
      "",
      `with Client(${python(url)}) as client:`,
      `    run = client.jobs.run(${python(id)}${payload === null ? "" : `, ${python(payload)}`})`,
      "    run = client.runs.wait(run.id)",
      "    print(run.status)",
    ].join("\n"),
  };
}

/** Return a text as one word of a POSIX shell. */
function quoted(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Return a value of JSON as a Python literal. */
export function python(value: unknown): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  if (typeof value === "object") {
    const entries = Object.entries(value).map(([name, one]) => `${python(name)}: ${python(one)}`);
    return `{${entries.join(", ")}}`;
  }
  return JSON.stringify(value);
}
