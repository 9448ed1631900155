import { Modal, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { type KeyboardEvent, useState } from "react";
import { type Entry, found } from "./entries";
import classes from "./Palette.module.css";
import { useEntries } from "./useEntries";

const BACK: Entry = { id: "back", title: "Back", kind: "", run: () => undefined };

/** Find a page or a job, or do something: Ctrl or Cmd and K. What affects everything asks first. */
export function Palette({ onClose, onHelp }: { onClose: () => void; onHelp: () => void }) {
  const [text, setText] = useState("");
  const [index, setIndex] = useState(0);
  const [asked, setAsked] = useState<Entry | null>(null);
  const entries = useEntries(onHelp);
  const shown = asked ? [{ ...asked, title: asked.question ?? asked.title }, BACK] : found(entries, text);
  const chosen = shown[Math.min(index, shown.length - 1)];
  const run = (entry: Entry | undefined) => {
    if (!entry) return;
    setIndex(0);
    if (entry === BACK) return setAsked(null);
    if (entry.question && !asked) return setAsked(entry);
    onClose();
    entry.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setIndex((Math.min(index, shown.length - 1) + step + shown.length) % Math.max(1, shown.length));
    else if (event.key === "Enter") run(chosen);
    else return;
    event.preventDefault();
  };
  return (
    <Modal
      opened
      onClose={onClose}
      withCloseButton={false}
      padding={0}
      yOffset="12vh"
      transitionProps={{ duration: 0 }}
    >
      <TextInput
        data-autofocus
        aria-label="Find or do anything"
        placeholder="Find a page or a job, or do something"
        leftSection={<IconSearch size={15} />}
        variant="unstyled"
        className={classes.input}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAsked(null);
          setIndex(0);
        }}
        onKeyDown={onKeyDown}
        role="combobox"
        aria-expanded
        aria-controls="palette-list"
        aria-activedescendant={chosen ? `palette-${chosen.id}` : undefined}
      />
      <div id="palette-list" role="listbox" aria-label="Results" className={classes.list}>
        {shown.map((entry) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input handles the keys
          // biome-ignore lint/a11y/useFocusableInteractive: the input keeps the focus
          <div
            key={entry.id}
            id={`palette-${entry.id}`}
            role="option"
            aria-selected={entry === chosen}
            ref={entry === chosen ? (node) => node?.scrollIntoView?.({ block: "nearest" }) : undefined}
            className={classes.entry}
            onClick={() => run(entry)}
            onPointerMove={() => setIndex(shown.indexOf(entry))}
          >
            <span className="grow clip">{entry.title}</span>
            <span className="faint">{entry.kind}</span>
          </div>
        ))}
        {shown.length === 0 && <p className={classes.none}>Nothing matches “{text}”.</p>}
      </div>
    </Modal>
  );
}
