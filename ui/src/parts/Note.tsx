import type { ReactNode } from "react";
import type { Hue } from "@/status/table";
import classes from "./Note.module.css";

interface Props {
  /** "look" for what will surprise, "bad" for errors; without one it is grey. */
  hue?: Extract<Hue, "look" | "bad" | "ok" | "run">;
  role?: "alert" | "status";
  children: ReactNode;
}

/** A tinted box with one fact. */
export function Note({ hue, role, children }: Props) {
  return (
    <div className={classes.note} data-hue={hue} role={role}>
      {children}
    </div>
  );
}
