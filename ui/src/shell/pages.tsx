/** The pages of the rail, the palette and the keys. */
import {
  IconActivity,
  IconArrowBarToDown,
  IconBinaryTree,
  IconFileText,
  IconHome,
  IconLinkPlus,
  IconList,
  IconPlayerPlay,
  IconServer,
  IconSettings,
  IconTallymarks,
  IconTimeline,
  type TablerIcon,
} from "@tabler/icons-react";
import type { Permission } from "@/access/useMe";
import type { Action } from "./keys";

export interface RailPage {
  to:
    | "/"
    | "/jobs"
    | "/runs"
    | "/timeline"
    | "/workflows"
    | "/chains"
    | "/ledger"
    | "/workers"
    | "/import"
    | "/audit"
    | "/doctor"
    | "/settings";
  title: string;
  icon: TablerIcon;
  key: Action;
  needs: Permission;
  /** Below the line of the rail. */
  isSecond?: boolean;
}

export const PAGES: readonly RailPage[] = [
  { to: "/", title: "Home", icon: IconHome, key: "goHome", needs: "read" },
  { to: "/jobs", title: "Jobs", icon: IconList, key: "goJobs", needs: "read" },
  { to: "/runs", title: "Runs", icon: IconPlayerPlay, key: "goRuns", needs: "read" },
  { to: "/timeline", title: "Timeline", icon: IconTimeline, key: "goTimeline", needs: "read" },
  { to: "/workflows", title: "Workflows", icon: IconBinaryTree, key: "goWorkflows", needs: "read" },
  { to: "/chains", title: "Chains", icon: IconLinkPlus, key: "goChains", needs: "read" },
  { to: "/ledger", title: "Ledger", icon: IconTallymarks, key: "goLedger", needs: "read" },
  { to: "/workers", title: "Workers", icon: IconServer, key: "goWorkers", needs: "read", isSecond: true },
  { to: "/import", title: "Import", icon: IconArrowBarToDown, key: "goImport", needs: "edit", isSecond: true },
  { to: "/audit", title: "Audit", icon: IconFileText, key: "goAudit", needs: "administer", isSecond: true },
  { to: "/doctor", title: "Doctor", icon: IconActivity, key: "goDoctor", needs: "administer", isSecond: true },
  { to: "/settings", title: "Settings", icon: IconSettings, key: "goSettings", needs: "administer", isSecond: true },
];

/** The five tabs on a phone. */
export const TABS: readonly RailPage["to"][] = ["/", "/jobs", "/runs", "/workflows", "/ledger"];
