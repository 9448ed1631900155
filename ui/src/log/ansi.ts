/**
 * Terminal output as text with styles. Colours are kept, a carriage return overwrites, and every other escape sequence
 * is removed: titles, links (OSC 8), cursor moves. The result is data, never HTML.
 */
import { PLAIN, type Style, sgr } from "./paint";

export interface Segment {
  text: string;
  style: Style;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it reads
const SPECIAL = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/;
const SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it reads
  /(?:\u001b\[|\u009b)([0-9;:?<=>]*)[ -/]*([@-~])|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c|$)|(?:\u001b\[|\u009b)[0-9;:?<=>]*$|\u001b[ -/]*[0-~]?|[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g;
/** Controls that a terminal does not show: bell, shift in, shift out, the rest of a sequence. */
const SILENT = new Set(["\u0007", "\u000e", "\u000f", "\u001b", "\u009c"]);
const PICTURES = 0x2400;
const DELETE_PICTURE = "\u2421";

/** Return a line as segments of one style each. */
export function parseLine(text: string): Segment[] {
  if (!SPECIAL.test(text)) return text === "" ? [] : [{ text, style: PLAIN }];
  const line = new Cells();
  let style = PLAIN;
  let end = 0;
  for (const found of text.matchAll(SEQUENCE)) {
    line.write(text.slice(end, found.index), style);
    end = found.index + found[0].length;
    const [sequence, parameters = "", command] = found;
    if (command === "m") style = /[?<=>]/.test(parameters) ? style : sgr(style, parameters);
    else if (command === "K") line.erase(parameters);
    else if (command === "G") line.column = Math.max(0, Number.parseInt(parameters || "1", 10) - 1);
    else if (sequence.length === 1) line.control(sequence, style);
  }
  line.write(text.slice(end), style);
  return line.segments();
}

/** Return a line without colours, as it is copied. */
export const plainText = (text: string): string =>
  parseLine(text)
    .map((segment) => segment.text)
    .join("");

const MOST_COLUMNS = 20_000;

/** The characters of a line with their styles, and the column of the cursor. */
class Cells {
  private readonly chars: string[] = [];
  private readonly styles: Style[] = [];
  column = 0;

  write(text: string, style: Style): void {
    for (const char of text) {
      this.pad();
      this.chars[this.column] = char;
      this.styles[this.column] = style;
      this.column++;
    }
  }

  control(char: string, style: Style): void {
    if (char === "\r") this.column = 0;
    else if (char === "\b") this.column = Math.max(0, this.column - 1);
    else if (char === "\u007f") this.write(DELETE_PICTURE, style);
    else if (!SILENT.has(char) && char < " ") this.write(String.fromCharCode(PICTURES + char.charCodeAt(0)), style);
  }

  /** Erase from the cursor to the end (0), from the start to the cursor (1), or all (2). */
  erase(parameters: string): void {
    if (parameters === "" || parameters === "0") {
      this.chars.length = this.styles.length = Math.min(this.column, this.chars.length);
      return;
    }
    const end = parameters === "2" ? this.chars.length : Math.min(this.column + 1, this.chars.length);
    this.chars.fill(" ", 0, end);
    this.styles.fill(PLAIN, 0, end);
    if (parameters === "2") this.trim();
  }

  segments(): Segment[] {
    const segments: Segment[] = [];
    for (const [index, char] of this.chars.entries()) {
      const style = this.styles[index] ?? PLAIN;
      const last = segments.at(-1);
      if (last && last.style === style) last.text += char;
      else segments.push({ text: char, style });
    }
    return segments;
  }

  private pad(): void {
    this.column = Math.min(this.column, MOST_COLUMNS);
    while (this.chars.length < this.column) {
      this.chars.push(" ");
      this.styles.push(PLAIN);
    }
  }

  private trim(): void {
    if (this.chars.every((char) => char === " ")) this.chars.length = this.styles.length = 0;
  }
}
