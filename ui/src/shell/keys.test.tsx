import { cleanup, fireEvent, render } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { type Handlers, SHORTCUTS, useKeys } from "./keys";

afterEach(cleanup);

function Keys({ handlers }: { handlers: Handlers }) {
  useKeys(handlers);
  return <input aria-label="name" />;
}

const press = (key: string, more: object = {}, target: Element = document.body) =>
  fireEvent.keyDown(target, { key, ...more });

test("a key calls its handler, and none while somebody types", () => {
  const next = vi.fn();
  const { getByLabelText } = render(<Keys handlers={{ next }} />);
  press("j");
  press("j", {}, getByLabelText("name"));
  expect(next).toHaveBeenCalledTimes(1);
});

test("the palette opens while somebody types", () => {
  const palette = vi.fn();
  const { getByLabelText } = render(<Keys handlers={{ palette }} />);
  press("k", { ctrlKey: true }, getByLabelText("name"));
  press("K", { metaKey: true });
  expect(palette).toHaveBeenCalledTimes(2);
});

test("two keys after each other are one action", () => {
  const [goJobs, next] = [vi.fn(), vi.fn()];
  render(<Keys handlers={{ goJobs, next }} />);
  press("g");
  press("j");
  press("j");
  expect(goJobs).toHaveBeenCalledTimes(1);
  expect(next).toHaveBeenCalledTimes(1);
});

test("the component that was mounted last comes first, unless it returns false", () => {
  const [first, second, refusing] = [vi.fn(), vi.fn(), vi.fn(() => false)];
  render(<Keys handlers={{ open: first, next: first }} />);
  render(<Keys handlers={{ open: second, next: refusing }} />);
  press("Enter");
  press("j");
  expect(second).toHaveBeenCalledTimes(1);
  expect(refusing).toHaveBeenCalledTimes(1);
  expect(first).toHaveBeenCalledTimes(1);
});

test("no two actions of a group have the same key", () => {
  const seen = new Map<string, string>();
  for (const [action, { group, keys }] of Object.entries(SHORTCUTS)) {
    for (const key of keys) {
      expect(seen.get(`${group} ${key}`), `${action} and another action of ${group}`).toBeUndefined();
      seen.set(`${group} ${key}`, action);
    }
  }
});

test("every key of the help is handled somewhere", () => {
  const sources = import.meta.glob<string>("../**/*.tsx", { query: "?raw", import: "default", eager: true });
  const handling = Object.entries(sources).filter(
    ([path, text]) => !path.includes(".test.") && /keys|shortcut=/i.test(text),
  );
  const code = handling.map(([, text]) => text).join("\n");
  const unhandled = Object.keys(SHORTCUTS).filter(
    (name) => !new RegExp(`\\b${name}[:,]|(key|shortcut)[:=] ?"${name}"`).test(code),
  );
  expect(unhandled).toEqual([]);
});
