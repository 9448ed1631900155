import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { LogRow } from "./LogRow";

afterEach(cleanup);

function show(text: string, wanted = "", onNumber = vi.fn()) {
  const line = { number: 7, at: "2026-11-18T12:00:00Z", attempt: 1, stream: "stdout" as const, text, is_cut: false };
  const view = render(
    <LogRow
      number={7}
      line={line}
      isSelected={false}
      tone={undefined}
      hasTime
      zone="UTC"
      wanted={wanted}
      attempt={undefined}
      onNumber={onNumber}
    />,
  );
  return { ...view, onNumber };
}

test("markup in a log is text", () => {
  const { container } = show("<script>alert(1)</script><img src=x onerror=alert(1)>");
  expect(container.querySelector("script, img")).toBeNull();
  expect(container.textContent).toContain("<script>alert(1)</script>");
});

test("only addresses of http and https are links, and they do not name this page", () => {
  const { container } = show("javascript:alert(1) https://example.com/x");
  const links = [...container.querySelectorAll("a[target]")];
  expect(links.map((link) => link.getAttribute("href"))).toEqual(["https://example.com/x"]);
  expect(links[0]?.getAttribute("rel")).toContain("noopener");
});

test("a line has its number, its time and its colours", () => {
  const { container } = show("\u001b[31merror\u001b[0m: it broke", "broke");
  expect(screen.getByLabelText("Line 7").getAttribute("href")).toBe("#L7");
  expect(container.textContent).toContain("12:00:00");
  expect(container.querySelector("[data-fg=red]")?.textContent).toBe("error");
  expect(container.querySelector("mark")?.textContent).toBe("broke");
});

test("a click on the number selects the line, with Shift it extends the selection", () => {
  const { onNumber } = show("text");
  fireEvent.click(screen.getByLabelText("Line 7"));
  fireEvent.click(screen.getByLabelText("Line 7"), { shiftKey: true });
  expect(onNumber.mock.calls).toEqual([
    [7, false],
    [7, true],
  ]);
});
