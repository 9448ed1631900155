import { ActionIcon, Button, Menu, Tooltip } from "@mantine/core";
import {
  IconArrowBarToDown,
  IconArrowBarToUp,
  IconClock,
  IconCopy,
  IconDownload,
  IconSearch,
  IconTextWrap,
} from "@tabler/icons-react";
import type { ReactNode } from "react";
import { urlOf } from "@/api/client";
import { counted } from "@/time/format";
import type { LogStore } from "./LogStore";
import classes from "./log.module.css";
import type { LineRange } from "./range";

interface Props {
  runId: string;
  title: ReactNode;
  attempts?: number;
  range?: LineRange | undefined;
  store: LogStore;
  isFollowing: boolean;
  isWrapped: boolean;
  hasTimes: boolean;
  onTop: () => void;
  onEnd: () => void;
  onError: () => void;
  /** The line that the search for an error has reached. */
  errorSearch: number | undefined;
  onFind: () => void;
  onWrap: () => void;
  onTimes: () => void;
  onCopy: () => void;
  onAttempt: (attempt: number) => void;
}

const ENDS: Record<string, string> = {
  complete: "complete",
  truncated: "cut at its largest size",
  pruned: "removed by retention",
  worker_lost: "its end was lost with the worker",
};

/** The head of a log: what it is, how long, and what can be done with it. */
export function LogBar(props: Props) {
  const { runId, title, attempts = 1, range, store } = props;
  const copyLabel = range ? `Copy lines ${range.first} to ${range.last}` : "Copy without numbers";
  return (
    <header className={classes.bar}>
      <span className={classes.title}>{title}</span>
      <span className={classes.facts}>
        {store.total > 0 && (
          <>
            {counted(store.total, "line")}
            {store.isCounted ? ", " : " so far, counting … "}
          </>
        )}
        {store.state === "open" ? (
          props.isFollowing ? (
            <span className={classes.following}>following</span>
          ) : (
            "not following"
          )
        ) : (
          store.state && ENDS[store.state]
        )}
      </span>
      <div className={classes.tools} role="toolbar" aria-label="Log">
        {attempts > 1 && <Attempts count={attempts} onAttempt={props.onAttempt} />}
        <Button size="compact-xs" variant="subtle" color="gray" onClick={props.onError}>
          {(props.errorSearch ?? 0) > 1 ? `Searching line ${props.errorSearch?.toLocaleString("en")} …` : "First error"}
        </Button>
        <Tool label="Top" icon={IconArrowBarToUp} onClick={props.onTop} />
        <Tool label="End, follow" icon={IconArrowBarToDown} onClick={props.onEnd} />
        <Tool label="Search" icon={IconSearch} onClick={props.onFind} />
        <Tool label="Wrap long lines" icon={IconTextWrap} isOn={props.isWrapped} onClick={props.onWrap} />
        <Tool label="Show times" icon={IconClock} isOn={props.hasTimes} onClick={props.onTimes} />
        <Tool label={copyLabel} icon={IconCopy} onClick={props.onCopy} />
        <Tooltip label="Download">
          <ActionIcon
            size={26}
            component="a"
            aria-label="Download"
            href={urlOf("/api/runs/{run_id}/log", { run_id: runId })}
            download={`${runId}.log`}
          >
            <IconDownload size={15} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
      </div>
    </header>
  );
}

interface ToolProps {
  label: string;
  icon: typeof IconCopy;
  /** A switch that is on or off. */
  isOn?: boolean;
  onClick: () => void;
}

function Tool({ label, icon: Icon, isOn, onClick }: ToolProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon
        size={26}
        aria-label={label}
        aria-pressed={isOn}
        {...(isOn ? { variant: "light" } : {})}
        onClick={onClick}
      >
        <Icon size={15} stroke={1.6} />
      </ActionIcon>
    </Tooltip>
  );
}

function Attempts({ count, onAttempt }: { count: number; onAttempt: (attempt: number) => void }) {
  return (
    <Menu>
      <Menu.Target>
        <Button size="compact-xs" variant="subtle" color="gray">
          Attempts
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {Array.from({ length: Math.min(count, 100) }, (_, index) => (
          <Menu.Item key={String(index)} onClick={() => onAttempt(index + 1)}>
            Attempt {index + 1}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
