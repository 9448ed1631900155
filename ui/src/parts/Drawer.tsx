import { ActionIcon, Portal } from "@mantine/core";
import { IconChevronDown, IconChevronUp, IconX } from "@tabler/icons-react";
import { type ReactNode, useEffect, useRef } from "react";
import { useKeys } from "@/shell/keys";
import classes from "./Drawer.module.css";

export const DRAWER_PLACE = "drawer-place";

interface Props {
  /** The name or the moment of what is shown. */
  title: ReactNode;
  onClose: () => void;
  onPrevious?: (() => void) | undefined;
  onNext?: (() => void) | undefined;
  children: ReactNode;
}

/** A panel on the right of the page, for reading one thing without leaving the list. Keep what it shows in the URL. */
export function Drawer({ title, onClose, onPrevious, onNext, children }: Props) {
  useKeys({ close: onClose });
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    heading.current?.focus({ preventScroll: true });
    return () => {
      if (before instanceof HTMLElement) before.focus({ preventScroll: true });
    };
  }, []);
  return (
    <Portal target={`#${DRAWER_PLACE}`}>
      <aside className={classes.drawer} aria-label={typeof title === "string" ? title : "details"}>
        <header className={classes.head}>
          <h2 ref={heading} tabIndex={-1} className="grow">
            {title}
          </h2>
          {onPrevious && (
            <ActionIcon aria-label="Previous" onClick={onPrevious}>
              <IconChevronUp size={16} />
            </ActionIcon>
          )}
          {onNext && (
            <ActionIcon aria-label="Next" onClick={onNext}>
              <IconChevronDown size={16} />
            </ActionIcon>
          )}
          <ActionIcon aria-label="Close" onClick={onClose}>
            <IconX size={16} />
          </ActionIcon>
        </header>
        {children}
      </aside>
    </Portal>
  );
}
