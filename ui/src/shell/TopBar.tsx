import { ActionIcon, useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { IconMoon, IconSearch, IconSun } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { useMe } from "@/access/useMe";
import { useLive } from "@/live/state";
import { Brand } from "./Brand";
import { Crumbs } from "./Crumbs";
import { shownKeys, useKeys } from "./keys";
import classes from "./TopBar.module.css";
import { ZoneSwitch } from "./ZoneSwitch";

const Account = lazy(() => import("./Account").then((part) => ({ default: part.Account })));

const LIVE = {
  live: { word: "Live", title: "Changes appear at once." },
  reconnecting: { word: "Reconnecting", title: "The server does not answer. What you see may be old." },
  paused: { word: "Paused", title: "Nothing is read while this page is hidden." },
} as const;

/** Where am I, the palette, the live state, the zone, the theme, the account. */
export function TopBar({ onPalette }: { onPalette: () => void }) {
  const { state } = useLive();
  const { me } = useMe();
  const isNamed = me !== undefined && me.kind !== "development";
  return (
    <header className={classes.bar}>
      <Link to="/" className="narrow" aria-label="Home">
        <Brand />
      </Link>
      <Crumbs />
      <button type="button" className={`${classes.find} wide`} onClick={onPalette}>
        <IconSearch size={14} aria-hidden />
        Find or do anything
        <kbd>{shownKeys("mod+k").join(" ")}</kbd>
      </button>
      <ActionIcon className="narrow" aria-label="Find or do anything" onClick={onPalette}>
        <IconSearch size={16} />
      </ActionIcon>
      <span className={classes.live} data-state={state} title={LIVE[state].title} role="status">
        <i />
        <span className={state === "live" ? "wide" : undefined}>{LIVE[state].word}</span>
      </span>
      <ZoneSwitch />
      <ThemeSwitch />
      {isNamed && (
        <Suspense fallback={null}>
          <Account />
        </Suspense>
      )}
    </header>
  );
}

function ThemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const isDark = useComputedColorScheme("light", { getInitialValueInEffect: false }) === "dark";
  const change = () => setColorScheme(isDark ? "light" : "dark");
  useKeys({ theme: change });
  const label = isDark ? "Switch to the light theme" : "Switch to the dark theme";
  return (
    <ActionIcon aria-label={label} title={label} onClick={change}>
      {isDark ? <IconMoon size={16} /> : <IconSun size={16} />}
    </ActionIcon>
  );
}
