import type { ReactNode } from "react";
import { StatusIcon } from "@/status/StatusIcon";
import classes from "./Chips.module.css";

export interface ChipOption<T extends string> {
  value: T;
  word: string;
  /** The status whose icon is shown. */
  status?: string;
  count?: number | undefined;
}

interface Props<T extends string> {
  label: string;
  options: readonly ChipOption<T>[];
  /** undefined: the first option, usually "all". */
  value: T | undefined;
  onChange: (value: T) => void;
}

/** A choice of one filter: `<Chips label="Status" options={...} value={search.status} onChange={...} />`. */
export function Chips<T extends string>({ label, options, value, onChange }: Props<T>) {
  const chosen = value ?? options[0]?.value;
  return (
    <div className={classes.chips} role="radiogroup" aria-label={label}>
      {options.map((option) => (
        // biome-ignore lint/a11y/useSemanticElements: a radio input cannot have this look
        <button
          key={option.value}
          type="button"
          role="radio"
          aria-checked={option.value === chosen}
          className={classes.chip}
          onClick={() => onChange(option.value)}
        >
          {option.status && <StatusIcon status={option.status} size={13} />}
          {option.word}
          {option.count !== undefined && <b>{option.count.toLocaleString("en")}</b>}
        </button>
      ))}
    </div>
  );
}

/** A small grey label, for tags and kinds. */
export function Tag({ children }: { children: ReactNode }) {
  return <span className={classes.tag}>{children}</span>;
}
