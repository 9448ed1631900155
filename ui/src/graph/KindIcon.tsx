import {
  IconBriefcase2,
  IconDoor,
  IconRobot,
  IconStack2,
  IconTerminal2,
  IconUserCheck,
  IconWorld,
} from "@tabler/icons-react";
import type { ComponentType } from "react";

const ICONS: Record<string, ComponentType<{ size?: number; className?: string; "aria-hidden"?: boolean }>> = {
  shell: IconTerminal2,
  http: IconWorld,
  agent: IconRobot,
  fanout: IconStack2,
  approval: IconUserCheck,
  gate: IconDoor,
};
const WORDS: Record<string, string> = { approval: "a person approves it", fanout: "one run for each item" };

/** The glyph of a kind of work, for steps without a status. */
export function KindIcon({ kind }: { kind: string }) {
  const Icon = ICONS[kind] ?? IconBriefcase2;
  return <Icon size={16} className="quiet" aria-hidden />;
}

export function kindWord(kind: string): string {
  return WORDS[kind] ?? kind;
}
