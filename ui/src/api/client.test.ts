import { afterEach, expect, test, vi } from "vitest";
import { api, urlOf } from "./client";

const answers = (...given: (Response | Error)[]) => {
  const fetching = vi.fn<typeof fetch>();
  for (const one of given) {
    if (one instanceof Error) fetching.mockRejectedValueOnce(one);
    else fetching.mockResolvedValueOnce(one);
  }
  vi.stubGlobal("fetch", fetching);
  return fetching;
};
const json = (status: number, body: unknown) => new Response(JSON.stringify(body), { status });

afterEach(() => {
  vi.unstubAllGlobals();
});

test("parameters are filled into the path and the query", () => {
  expect(urlOf("/api/jobs/{job_id}/runs", { job_id: "a b/c" }, { limit: 5, cursor: "", status: null })).toBe(
    "/api/jobs/a%20b%2Fc/runs?limit=5",
  );
});

test("an error has the code, the hint and the field of the server", async () => {
  answers(json(422, { error: { code: "invalid_field", message: "no", hint: "Do this.", field: "cron", position: 3 } }));
  await expect(api.get("/api/jobs")).rejects.toMatchObject({
    status: 422,
    code: "invalid_field",
    hint: "Do this.",
    field: "cron",
    position: 3,
  });
});

test("an answer of a proxy is an error that says so", async () => {
  answers(new Response("<html>Bad Gateway</html>", { status: 502 }));
  await expect(api.get("/api/jobs")).rejects.toMatchObject({ status: 502, code: "not_json" });
});

test("a server that does not answer is an error with a hint", async () => {
  answers(new TypeError("failed to fetch"));
  await expect(api.get("/api/jobs")).rejects.toMatchObject({ status: 0, code: "unreachable" });
});

test("a POST that got no answer is repeated once with the same key", async () => {
  const fetching = answers(new TypeError("failed to fetch"), json(200, { id: "1" }));
  await api.post("/api/jobs/{job_id}/run", { path: { job_id: "backup" } });
  const keys = fetching.mock.calls.map(([, init]) => new Headers(init?.headers).get("Idempotency-Key"));
  expect(keys).toHaveLength(2);
  expect(keys[0]).toBe(keys[1]);
  expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
});
