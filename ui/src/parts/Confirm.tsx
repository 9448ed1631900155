import { Button, Popover, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { type Action, useKeys } from "@/shell/keys";

interface Props {
  /** The button: `(open) => <Button onClick={open}>Delete</Button>`. */
  target: (open: () => void) => ReactNode;
  title: string;
  /** What will happen, in one or two sentences. */
  text?: ReactNode;
  /** The word on the button that does it. */
  action: string;
  isDangerous?: boolean;
  /** A text to type first, for what cannot be undone. */
  typed?: string;
  onConfirm: () => void;
  /** The key that opens it, as its button does. */
  shortcut?: Action;
}

/** Asks before a change, in a popover beside its button. */
export function Confirm({ target, title, text, action, isDangerous, typed, onConfirm, shortcut }: Props) {
  const [isOpen, setOpen] = useState(false);
  const [given, setGiven] = useState("");
  const open = () => {
    setGiven("");
    setOpen(true);
  };
  useKeys(shortcut ? { [shortcut]: open } : {});
  const mayConfirm = typed === undefined || given === typed;
  const confirm = () => {
    setOpen(false);
    onConfirm();
  };
  return (
    <Popover opened={isOpen} onChange={setOpen} width={300} withRoles={false} trapFocus returnFocus withArrow>
      <Popover.Target>
        <span>{target(() => (isOpen ? setOpen(false) : open()))}</span>
      </Popover.Target>
      <Popover.Dropdown role="dialog" aria-label={title}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (mayConfirm) confirm();
          }}
        >
          <h2>{title}</h2>
          {text && <p className="muted">{text}</p>}
          {typed !== undefined && (
            <TextInput
              mt={8}
              label={`Type ${typed}`}
              value={given}
              onChange={(event) => setGiven(event.target.value)}
            />
          )}
          <div className="row" style={{ marginTop: 12, justifyContent: "flex-end" }}>
            <Button onClick={() => setOpen(false)}>Back</Button>
            <Button
              type="submit"
              variant="filled"
              disabled={!mayConfirm}
              {...(isDangerous ? { color: "red" } : {})}
              data-autofocus={typed === undefined || undefined}
            >
              {action}
            </Button>
          </div>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}
