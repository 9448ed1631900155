import { expect, test } from "vitest";
import { parseLine, plainText } from "./ansi";

const ESC = "\u001b";
const shown = (text: string) => parseLine(text).map(({ text: part, style }) => [part, style] as const);

test("text without escapes is one segment", () => {
  expect(shown("plain text")).toEqual([["plain text", {}]]);
  expect(shown("")).toEqual([]);
});

test("the 16 colours become tokens, and a reset ends them", () => {
  expect(shown(`${ESC}[1;31merror${ESC}[0m: it broke`)).toEqual([
    ["error", { bold: true, fg: "red" }],
    [": it broke", {}],
  ]);
  expect(shown(`${ESC}[94mblue${ESC}[39m none`).map(([, style]) => style.fg)).toEqual(["blue", undefined]);
});

test("256 colours and true colours become the token of the same hue", () => {
  expect(shown(`${ESC}[38;5;208morange`)[0]?.[1].fg).toBe("yellow");
  expect(shown(`${ESC}[38;2;120;200;90mleaf`)[0]?.[1].fg).toBe("green");
  expect(shown(`${ESC}[38:2::250:20:30mrose`)[0]?.[1].fg).toBe("red");
  expect(shown(`${ESC}[48;5;21msea`)[0]?.[1].bg).toBe("blue");
  expect(shown(`${ESC}[38;5;244mgrey`)[0]?.[1].fg).toBe("plain");
});

test("what follows an extended colour is read on", () => {
  expect(shown(`${ESC}[38;5;9;1mboth`)[0]?.[1]).toEqual({ fg: "red", bold: true });
});

test("a carriage return overwrites what was written before it", () => {
  expect(plainText("progress 10%\rprogress 100%\rdone")).toBe("doneress 100%");
  expect(plainText(`long text\r${ESC}[Kshort`)).toBe("short");
  expect(plainText("abc\b\bX")).toBe("aXc");
});

test("overwritten characters have the new colour", () => {
  expect(shown(`${ESC}[31mabcd\r${ESC}[32mxy`)).toEqual([
    ["xy", { fg: "green" }],
    ["cd", { fg: "red" }],
  ]);
});

test("titles, links, cursor moves and unfinished sequences are removed", () => {
  expect(plainText(`${ESC}]8;;javascript:alert(1)\u0007link${ESC}]8;;\u0007`)).toBe("link");
  expect(plainText(`${ESC}]0;a title${ESC}\\text`)).toBe("text");
  expect(plainText(`${ESC}[2J${ESC}[10;10Hmoved`)).toBe("moved");
  expect(plainText(`a${ESC}[?25lb${ESC}(Bc${ESC}Pq#0${ESC}\\d`)).toBe("abcd");
  expect(plainText(`cut${ESC}[38;5`)).toBe("cut");
  expect(plainText(`\u009b31mC1\u009b0m`)).toBe("C1");
});

test("other control characters are shown as pictures, tabs are kept", () => {
  expect(plainText("a\u0000b\u0007c\td")).toBe("a\u2400bc\td");
});

test("a move to a far column does not fill memory", () => {
  expect(plainText(`${ESC}[999999999Gx`).length).toBeLessThan(30_000);
});
