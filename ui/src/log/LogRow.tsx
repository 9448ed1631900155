import { type MouseEvent, memo, useMemo } from "react";
import type { LogLine } from "@/api/types.gen";
import { moment } from "@/time/format";
import classes from "./log.module.css";
import { type Piece, piecesOf } from "./pieces";

export interface RowLook {
  isSelected: boolean;
  /** The first error, or the match of the search that is in view. */
  tone: "error" | "match" | undefined;
  hasTime: boolean;
  zone: string;
  /** The text of the search, which is marked. */
  wanted: string;
  /** The number of the attempt whose first line this is. */
  attempt: number | undefined;
}

interface Props extends RowLook {
  number: number;
  line: LogLine | undefined;
  onNumber: (number: number, isExtended: boolean) => void;
}

/** One line: number, time and text. The number is not copied with the text. */
export const LogRow = memo(function LogRow(props: Props) {
  const { number, line, isSelected, tone, hasTime, zone, wanted, attempt, onNumber } = props;
  const pieces = useMemo(() => (line ? piecesOf(line.text, wanted) : []), [line, wanted]);
  const select = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    onNumber(number, event.shiftKey);
  };
  return (
    <div
      className={classes.row}
      data-stream={line?.stream}
      data-selected={isSelected || undefined}
      data-tone={tone}
      data-attempt={attempt && attempt > 1 ? attempt : undefined}
    >
      <a className={classes.number} href={`#L${number}`} tabIndex={-1} aria-label={`Line ${number}`} onClick={select}>
        {number}
      </a>
      {hasTime && <span className={classes.time}>{line && moment(line.at, zone).clock}</span>}
      <span className={classes.text}>
        {line ? pieces.map((piece) => <PieceText key={piece.start} piece={piece} />) : <i className={classes.gap} />}
        {line?.is_cut && <em className={classes.cut}> … cut, the download has the whole line</em>}
      </span>
    </div>
  );
});

function PieceText({ piece }: { piece: Piece }) {
  const { text, style, href, isMark, isHidden } = piece;
  const [fg, bg] = style.inverse ? [style.bg ?? "strong", style.fg ?? "plain"] : [style.fg, style.bg];
  const look = [
    style.bold && classes.bold,
    style.dim && classes.dim,
    style.italic && classes.italic,
    style.underline && classes.underline,
    style.strike && classes.strike,
    isHidden && classes.hidden,
  ];
  const className = look.filter(Boolean).join(" ") || undefined;
  const content = isMark ? <mark>{text}</mark> : text;
  if (href) {
    return (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow" className={className} data-fg={fg} data-bg={bg}>
        {content}
      </a>
    );
  }
  if (!className && !fg && !bg) return content;
  return (
    <span className={className} data-fg={fg} data-bg={bg} title={isHidden ? "an invisible character" : undefined}>
      {content}
    </span>
  );
}
