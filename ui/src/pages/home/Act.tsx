import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import classes from "./home.module.css";

interface Props {
  children: ReactNode;
  onClick?: () => void;
  /** A link that looks like a button. */
  asLink?: (props: Record<string, unknown>) => ReactNode;
  /** Without a border: the third action of a row. */
  isQuiet?: boolean;
}

/** A small button of a row. */
export function Act({ children, onClick, asLink, isQuiet }: Props) {
  return (
    <Button
      className={classes.act}
      variant={isQuiet ? "subtle" : "default"}
      color="gray"
      {...(onClick ? { onClick } : {})}
      {...(asLink ? { renderRoot: asLink } : {})}
    >
      {children}
    </Button>
  );
}
