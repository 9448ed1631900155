import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { RunNow } from "./RunNow";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function show(template: unknown) {
  const sent: { url: string; body: unknown }[] = [];
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    if (init.method === "POST") sent.push({ url, body: JSON.parse(String(init.body)) });
    return new Response(JSON.stringify({ id: "R", job_id: "backup", payload_template: template }));
  });
  const onChange = vi.fn();
  render(
    <QueryClientProvider client={new QueryClient()}>
      <MantineProvider>
        <RunNow jobId="backup" isOpen onChange={onChange}>
          <button type="button">open</button>
        </RunNow>
      </MantineProvider>
    </QueryClientProvider>,
  );
  return { sent, onChange };
}

it("starts the job with its own parameters if none are typed", async () => {
  const { sent, onChange } = show(null);
  fireEvent.click(await screen.findByRole("button", { name: "Run now" }));
  await waitFor(() => expect(onChange).toHaveBeenCalledWith(false));
  expect(sent).toEqual([{ url: "/api/jobs/backup/run", body: {} }]);
});

it("sends typed parameters and refuses what is not JSON", async () => {
  const { sent, onChange } = show({ day: "today" });
  const field = await screen.findByLabelText("Parameters (JSON)");
  await waitFor(() => expect((field as HTMLTextAreaElement).value).toContain("today"));
  fireEvent.change(field, { target: { value: "{day" } });
  expect(screen.getByText(/This is not JSON/)).toBeTruthy();
  expect(screen.getByText("Run now").closest("button")?.disabled).toBe(true);
  fireEvent.change(field, { target: { value: '{"day": "monday"}' } });
  fireEvent.keyDown(field, { key: "Enter", ctrlKey: true });
  await waitFor(() => expect(onChange).toHaveBeenCalledWith(false));
  expect(sent).toEqual([{ url: "/api/jobs/backup/run", body: { payload: { day: "monday" } } }]);
});
