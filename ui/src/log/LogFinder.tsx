import { ActionIcon, TextInput } from "@mantine/core";
import { IconChevronDown, IconChevronUp, IconX } from "@tabler/icons-react";
import type { RefObject } from "react";
import classes from "./log.module.css";
import type { LogSearch } from "./useLogSearch";

interface Props {
  input: RefObject<HTMLInputElement | null>;
  text: string;
  onText: (text: string) => void;
  search: LogSearch;
  /** The line of the match in view. */
  line: number | undefined;
  onNext: () => void;
  onPrevious: () => void;
  onClose: () => void;
}

/** Searches the whole log. Enter and Shift+Enter go to the next and the previous match. */
export function LogFinder({ input, text, onText, search, line, onNext, onPrevious, onClose }: Props) {
  return (
    <search className={classes.finder}>
      <TextInput
        ref={input}
        className="grow"
        size="xs"
        aria-label="Search the log"
        placeholder="Search the whole log, in upper or lower case"
        maxLength={200}
        value={text}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") (event.shiftKey ? onPrevious : onNext)();
          else if (event.key === "Escape") onClose();
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      <span className="muted nowrap" aria-live="polite">
        {text.trim() !== "" && countText(search, line)}
      </span>
      <ActionIcon size={26} aria-label="Previous match" disabled={search.lines.length === 0} onClick={onPrevious}>
        <IconChevronUp size={15} />
      </ActionIcon>
      <ActionIcon size={26} aria-label="Next match" disabled={search.lines.length === 0} onClick={onNext}>
        <IconChevronDown size={15} />
      </ActionIcon>
      <ActionIcon size={26} aria-label="Close the search" onClick={onClose}>
        <IconX size={15} />
      </ActionIcon>
    </search>
  );
}

function countText({ lines, isSearching, isCut, reached }: LogSearch, line: number | undefined): string {
  const where = isSearching && reached > 0 ? `, searching line ${reached.toLocaleString("en")} …` : "";
  if (lines.length === 0) return isSearching ? where.replace(", ", "") || "searching …" : "no line";
  const place = line === undefined ? -1 : lines.indexOf(line);
  const count = `${lines.length.toLocaleString("en")}${isCut && !isSearching ? "+" : ""}`;
  return `${place < 0 ? `${count} lines` : `${(place + 1).toLocaleString("en")} of ${count}`}${where}`;
}
