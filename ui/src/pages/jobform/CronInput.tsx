import { Input } from "@mantine/core";
import { useId, useRef, useState } from "react";
import classes from "./Cron.module.css";
import { MAY_BE, type Part, PRESETS, partAt, partsOf, wordEnd } from "./cronParts";

interface Props {
  value: string;
  onChange: (value: string) => void;
  /** Where the error is that the server found in this value. */
  errorAt: number | undefined;
}

/** The input of an expression: the part at the cursor in accent, an error underlined at its place. */
export function CronInput({ value, onChange, errorAt }: Props) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [cursor, setCursor] = useState(-1);
  const [scrolled, setScrolled] = useState(0);
  const parts = partsOf(value);
  const current = partAt(parts, cursor);
  const select = ({ from, to }: Part) => {
    input.current?.focus();
    input.current?.setSelectionRange(from, to);
  };
  const read = () => {
    setCursor(input.current?.selectionStart ?? -1);
    setScrolled(input.current?.scrollLeft ?? 0);
  };
  const name = parts[current]?.name;
  return (
    <div>
      <Input.Wrapper id={id} label="Expression" required>
        <div className={classes.cron}>
          <Input
            id={id}
            ref={input}
            value={value}
            onChange={(event) => {
              onChange(event.currentTarget.value);
              read();
            }}
            onSelect={read}
            onScroll={read}
            onBlur={() => setCursor(-1)}
            error={errorAt !== undefined}
            aria-describedby={`${id}-help`}
            spellCheck={false}
            autoComplete="off"
            autoCapitalize="off"
            required
          />
          <div className={classes.mirror} aria-hidden="true">
            <span style={{ marginLeft: -scrolled }}>
              <Coloured value={value} part={parts[current]} errorAt={errorAt} />
            </span>
          </div>
        </div>
      </Input.Wrapper>
      <div className={classes.names}>
        {parts.map(
          (part, index) =>
            part.name && (
              <button
                key={part.name}
                type="button"
                tabIndex={-1}
                aria-label={`Select ${part.name}`}
                data-current={index === current || undefined}
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => select(part)}
              >
                {part.name}
              </button>
            ),
        )}
      </div>
      <p id={`${id}-help`} className={classes.help}>
        {name ? `${name}: ${MAY_BE[name]}. ` : ""}
        <code>*</code> every, <code>9-17</code> range, <code>*/2</code> step, <code>1,13</code> list, <code>H</code>{" "}
        chosen by the id
      </p>
      <fieldset className={classes.presets} aria-label="Common schedules">
        {PRESETS.map(({ words, cron }) => (
          <button key={cron} type="button" data-current={cron === value || undefined} onClick={() => onChange(cron)}>
            {words}
          </button>
        ))}
      </fieldset>
    </div>
  );
}

function Coloured({ value, part, errorAt }: { value: string; part: Part | undefined; errorAt: number | undefined }) {
  const marks = [
    ...(part ? [{ from: part.from, to: part.to }] : []),
    ...(errorAt === undefined ? [] : [{ from: errorAt, to: wordEnd(value, errorAt) }]),
  ];
  const cuts = [...new Set([0, value.length, ...marks.flatMap(({ from, to }) => [from, to])])].sort((a, b) => a - b);
  return cuts.slice(0, -1).map((from, index) => {
    const to = cuts[index + 1] ?? value.length;
    const isCurrent = part !== undefined && part.from <= from && to <= part.to;
    const isWrong = errorAt !== undefined && errorAt <= from && to <= wordEnd(value, errorAt);
    return (
      <span key={from} data-current={isCurrent || undefined} data-wrong={isWrong || undefined}>
        {value.slice(from, to) || " "}
      </span>
    );
  });
}
