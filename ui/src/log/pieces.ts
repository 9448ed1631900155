/** The pieces of a line that are shown: styled text, links, marks of a search, and characters that would be invisible. */
import { parseLine, type Segment } from "./ansi";
import type { Style } from "./paint";

export interface Piece {
  text: string;
  style: Style;
  /** An http or https address. */
  href?: string | undefined;
  isMark: boolean;
  /** The text stands for a character that is invisible or turns the direction of the text. */
  isHidden: boolean;
  /** Where it begins in the line. */
  start: number;
}

interface Range {
  start: number;
  end: number;
  href?: string;
}

const HIDDEN = /[\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g;
const URL_TEXT = /\bhttps?:\/\/[^\s<>"'`\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+/gi;
const CLOSING: Record<string, string> = { ")": "(", "]": "[", "}": "{" };

/** Return the address of a link, if it is one of http or https. No other text becomes a link. */
export function httpHref(text: string): string | undefined {
  try {
    const url = new URL(text);
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : undefined;
  } catch {
    return undefined;
  }
}

/** Return the pieces of a line. `wanted` is the text of a search, in any case. */
export function piecesOf(text: string, wanted = ""): Piece[] {
  const segments = parseLine(text);
  const plain = segments.map((segment) => segment.text).join("");
  const links = linksOf(plain);
  const marks = marksOf(plain, wanted);
  const hidden = [...plain.matchAll(HIDDEN)].map(({ index }) => ({ start: index, end: index + 1 }));
  if (links.length + marks.length + hidden.length === 0) return styled(segments);
  const cuts = [...links, ...marks, ...hidden].flatMap(({ start, end }) => [start, end]).sort((a, b) => a - b);
  const at = (ranges: readonly Range[], place: number) => ranges.find((one) => one.start <= place && place < one.end);
  const pieces: Piece[] = [];
  for (const { text: part, style, start } of styled(segments)) {
    const inside = cuts.filter((cut) => cut > start && cut < start + part.length);
    const bounds = [start, ...new Set(inside), start + part.length];
    for (const [index, begin] of bounds.slice(0, -1).entries()) {
      const content = plain.slice(begin, bounds[index + 1]);
      const isHidden = at(hidden, begin) !== undefined;
      pieces.push({
        text: isHidden ? codeOf(content) : content,
        style,
        href: at(links, begin)?.href,
        isMark: at(marks, begin) !== undefined,
        isHidden,
        start: begin,
      });
    }
  }
  return pieces;
}

function styled(segments: readonly Segment[]): Piece[] {
  let start = 0;
  return segments.map(({ text, style }) => {
    const piece = { text, style, isMark: false, isHidden: false, start };
    start += text.length;
    return piece;
  });
}

function linksOf(plain: string): Range[] {
  return [...plain.matchAll(URL_TEXT)].flatMap(({ 0: found, index }) => {
    const text = withoutEnd(found);
    const href = httpHref(text);
    return href ? [{ start: index, end: index + text.length, href }] : [];
  });
}

/** Remove the punctuation of the sentence that a link ends. */
function withoutEnd(text: string): string {
  let end = text.length;
  for (; end > 0; end--) {
    const last = text[end - 1] ?? "";
    const opening = CLOSING[last];
    const isUnmatched = opening && text.slice(0, end).split(opening).length < text.slice(0, end).split(last).length;
    if (!isUnmatched && !".,;:!?".includes(last)) break;
  }
  return text.slice(0, end);
}

function marksOf(plain: string, wanted: string): Range[] {
  if (wanted === "") return [];
  const pattern = new RegExp(wanted.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "giu");
  return [...plain.matchAll(pattern)].map(({ 0: found, index }) => ({ start: index, end: index + found.length }));
}

const codeOf = (char: string): string => `U+${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
