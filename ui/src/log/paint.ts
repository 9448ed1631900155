/** Colours and attributes of terminal output, mapped to the tokens of the theme, so that each is readable in both. */

/** A colour that has a token. `strong`, `plain` and `faint` are greys. */
export type Paint = "red" | "green" | "yellow" | "blue" | "magenta" | "cyan" | "strong" | "plain" | "faint";

export interface Style {
  fg?: Paint | undefined;
  bg?: Paint | undefined;
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  underline?: boolean;
  strike?: boolean;
  inverse?: boolean;
}

export const PLAIN: Style = {};

const DARK: readonly Paint[] = ["strong", "red", "green", "yellow", "blue", "magenta", "cyan", "plain"];
const BRIGHT: readonly Paint[] = ["faint", "red", "green", "yellow", "blue", "magenta", "cyan", "strong"];
const GREY = 30;

/** Return the style after the parameters of one SGR sequence ("1;31"). Unknown ones change nothing. */
export function sgr(style: Style, parameters: string): Style {
  let changed: Style = { ...style };
  // 38:5:208 is another way to write 38;5;208; 4:3 is a kind of underline.
  const codes = parameters.split(";").flatMap((part) => (/^[34]8:/.test(part) ? part.split(":") : [part]));
  for (let at = 0; at < codes.length; at++) {
    const code = Number.parseInt(codes[at] || "0", 10);
    if (code === 38 || code === 48) {
      const { paint, used } = extended(codes.slice(at + 1));
      at += used;
      if (paint) changed[code === 38 ? "fg" : "bg"] = paint;
    } else {
      changed = simple(changed, code);
    }
  }
  return changed;
}

function simple(style: Style, code: number): Style {
  switch (code) {
    case 0:
      return PLAIN;
    case 1:
      return { ...style, bold: true };
    case 2:
      return { ...style, dim: true };
    case 3:
      return { ...style, italic: true };
    case 4:
      return { ...style, underline: true };
    case 7:
      return { ...style, inverse: true };
    case 9:
      return { ...style, strike: true };
    case 22:
      return { ...style, bold: false, dim: false };
    case 23:
      return { ...style, italic: false };
    case 24:
      return { ...style, underline: false };
    case 27:
      return { ...style, inverse: false };
    case 29:
      return { ...style, strike: false };
    case 39:
      return { ...style, fg: undefined };
    case 49:
      return { ...style, bg: undefined };
  }
  if (code >= 30 && code <= 37) return { ...style, fg: DARK[code - 30] };
  if (code >= 90 && code <= 97) return { ...style, fg: BRIGHT[code - 90] };
  if (code >= 40 && code <= 47) return { ...style, bg: DARK[code - 40] };
  if (code >= 100 && code <= 107) return { ...style, bg: BRIGHT[code - 100] };
  return style;
}

/** Read "5;208" or "2;120;200;90" after a 38 or 48. */
function extended(codes: readonly string[]): { paint: Paint | undefined; used: number } {
  const numbers = codes.map((code) => Number.parseInt(code, 10));
  if (numbers[0] === 5) return { paint: indexed(numbers[1] ?? -1), used: 2 };
  if (numbers[0] !== 2) return { paint: undefined, used: codes.length };
  // The form with colons may have an empty name of a colour space before the three values.
  const begin = codes[1] === "" ? 2 : 1;
  const [red = 0, green = 0, blue = 0] = numbers.slice(begin, begin + 3);
  return { paint: nearest(red, green, blue), used: begin + 3 };
}

/** Return the paint of one of the 256 colours. */
export function indexed(index: number): Paint | undefined {
  if (!(index >= 0 && index <= 255)) return undefined;
  if (index < 8) return DARK[index];
  if (index < 16) return BRIGHT[index - 8];
  if (index >= 232) return index < 240 ? "faint" : index < 248 ? "plain" : "strong";
  const level = (step: number) => (step === 0 ? 0 : 55 + 40 * step);
  const cube = index - 16;
  return nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

/** Return the paint of the same hue: its lightness is that of the theme, so that it can be read. */
export function nearest(red: number, green: number, blue: number): Paint {
  const most = Math.max(red, green, blue);
  const spread = most - Math.min(red, green, blue);
  if (spread < GREY) return most < 110 ? "faint" : most < 215 ? "plain" : "strong";
  const hue = angle(red, green, blue, most, spread);
  if (hue < 18 || hue >= 335) return "red";
  if (hue < 70) return "yellow";
  if (hue < 160) return "green";
  if (hue < 200) return "cyan";
  return hue < 262 ? "blue" : "magenta";
}

function angle(red: number, green: number, blue: number, most: number, spread: number): number {
  if (most === red) return (60 * ((green - blue) / spread) + 360) % 360;
  return most === green ? 60 * ((blue - red) / spread) + 120 : 60 * ((red - green) / spread) + 240;
}
