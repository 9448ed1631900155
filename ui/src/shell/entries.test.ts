import { expect, test } from "vitest";
import { type Entry, found } from "./entries";

const entries = ["health-api", "api-backup", "capital", "a-plain-image", "report"].map(
  (title): Entry => ({ id: title, title, kind: "job", run: () => undefined }),
);
const titles = (text: string) => found(entries, text).map((entry) => entry.title);

test("the beginning comes before the beginning of a word, any place and letters in order", () => {
  expect(titles("api")).toEqual(["api-backup", "health-api", "capital", "a-plain-image"]);
});

test("the case of letters does not matter", () => {
  expect(titles("REP")).toEqual(["report"]);
});

test("without a text everything is shown", () => {
  expect(titles(" ")).toHaveLength(5);
});
