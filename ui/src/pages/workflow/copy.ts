/** Ways to start a workflow from elsewhere. Pure. */
import { python } from "@/pages/job/copy";

export const FORMS = ["CLI", "curl", "Python", "TOML"] as const;
export type Form = (typeof FORMS)[number];

/** Return the commands that start a workflow of the server at a URL with parameters. */
export function startForms(
  id: string,
  url: string,
  params: Record<string, unknown>,
): Record<Exclude<Form, "TOML">, string> {
  const hasParams = Object.keys(params).length > 0;
  const json = JSON.stringify(params);
  return {
    CLI: [`foliot workflows start ${quoted(id)}`, hasParams ? ` --params ${quoted(json)}` : "", " --follow"].join(""),
    curl: [
      `curl -X POST ${quoted(`${url}/api/workflows/${encodeURIComponent(id)}/start`)}`,
      `  -H "Authorization: Bearer $FOLIOT_TOKEN"`,
      `  -H "Content-Type: application/json"`,
      `  -d ${quoted(hasParams ? JSON.stringify({ params }) : "{}")}`,
    ].join(" \\\n"),
    Python: [
      "from foliot.client import Client",
      "",
      `with Client(${python(url)}) as client:`,
      `    run = client.workflows.start(${python(id)}${hasParams ? `, ${python(params)}` : ""})`,
      "    run = client.runs.wait(run.id)",
      "    print(run.status)",
    ].join("\n"),
  };
}

/** Return a text as one word of a POSIX shell. */
function quoted(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
