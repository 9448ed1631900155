import { expect, test } from "vitest";
import { httpHref, piecesOf } from "./pieces";

const hrefs = (text: string) => piecesOf(text).flatMap((piece) => (piece.href ? [[piece.text, piece.href]] : []));

test("only http and https become links", () => {
  expect(hrefs("see https://example.com/a?b=1, or javascript:alert(1)")).toEqual([
    ["https://example.com/a?b=1", "https://example.com/a?b=1"],
  ]);
  expect(httpHref("javascript:alert(1)")).toBeUndefined();
  expect(httpHref("data:text/html,x")).toBeUndefined();
  expect(httpHref("http://")).toBeUndefined();
});

test("a link ends before the punctuation of its sentence, and keeps its own brackets", () => {
  expect(hrefs("(http://example.com/x).")[0]?.[0]).toBe("http://example.com/x");
  expect(hrefs("http://example.com/a_(b)")[0]?.[0]).toBe("http://example.com/a_(b)");
  expect(hrefs("<a href='http://example.com/'>")[0]?.[0]).toBe("http://example.com/");
});

test("a search is marked in any case, also across colours", () => {
  const pieces = piecesOf("\u001b[31mERR\u001b[0mor here, Error", "error");
  expect(pieces.filter((piece) => piece.isMark).map((piece) => piece.text)).toEqual(["ERR", "or", "Error"]);
});

test("the text of a search is no pattern", () => {
  expect(piecesOf("a.c abc", "a.c").filter((piece) => piece.isMark)).toHaveLength(1);
});

test("characters that turn the direction of text or are invisible are shown", () => {
  const pieces = piecesOf("x\u202etxt.exe\u200b");
  expect(pieces.map((piece) => piece.text)).toEqual(["x", "U+202E", "txt.exe", "U+200B"]);
  expect(pieces.map((piece) => piece.isHidden)).toEqual([false, true, false, true]);
});

test("the pieces have all of the text", () => {
  const text = "go to https://example.com/error and see the error";
  expect(
    piecesOf(text, "error")
      .map((piece) => piece.text)
      .join(""),
  ).toBe(text);
});
