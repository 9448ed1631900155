import { Outlet, useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { useMe } from "@/access/useMe";
import { reconnectLive } from "@/live/start";
import { DRAWER_PLACE } from "@/parts/Drawer";
import { Loading } from "@/parts/Loading";
import { isZone, setZone } from "@/time/zone";
import { DevBanner } from "./DevBanner";
import { type Handlers, useKeys } from "./keys";
import { PausedBanner } from "./PausedBanner";
import { PAGES } from "./pages";
import { Rail } from "./Rail";
import classes from "./Shell.module.css";
import { TopBar } from "./TopBar";

const LoginPage = lazy(() => import("@/pages/login/LoginPage").then((page) => ({ default: page.LoginPage })));
const loadPalette = () => import("./Palette").then((part) => ({ default: part.Palette }));
const Palette = lazy(loadPalette);
const KeysHelp = lazy(() => import("./KeysHelp").then((part) => ({ default: part.KeysHelp })));

/** The frame of every page. Without a session it shows the login page instead, at the same address. */
export function Shell() {
  const { me, isLoggedOut } = useMe();
  const [opened, setOpened] = useState<"palette" | "help" | null>(null);
  useZoneOfUrl();
  useReconnection(isLoggedOut);
  useGoKeys();
  useEffect(() => {
    // Loaded before it is wanted: letters typed right after Ctrl-K must not get lost.
    const timer = setTimeout(() => void loadPalette().catch(() => undefined), 1_000);
    return () => clearTimeout(timer);
  }, []);
  useKeys({ palette: () => setOpened("palette"), help: () => setOpened("help") });
  if (isLoggedOut) {
    return (
      <Suspense fallback={<Loading />}>
        <LoginPage />
      </Suspense>
    );
  }
  return (
    <div className={classes.app}>
      <a className={classes.skip} href="#main">
        Skip to the page
      </a>
      <Rail />
      <div className={classes.column}>
        <DevBanner />
        <PausedBanner />
        <TopBar onPalette={() => setOpened("palette")} />
        <div className={classes.body}>
          <main id="main" className={classes.page} tabIndex={-1}>
            {me ? <Outlet /> : <Loading />}
          </main>
          <div id={DRAWER_PLACE} className={classes.drawer} />
        </div>
      </div>
      <Suspense fallback={null}>
        {opened === "palette" && <Palette onClose={() => setOpened(null)} onHelp={() => setOpened("help")} />}
        {opened === "help" && <KeysHelp onClose={() => setOpened(null)} />}
      </Suspense>
    </div>
  );
}

/** The stream of events was refused without a session. */
function useReconnection(isLoggedOut: boolean): void {
  const wasLoggedOut = useRef(false);
  useEffect(() => {
    if (wasLoggedOut.current && !isLoggedOut) reconnectLive();
    wasLoggedOut.current = isLoggedOut;
  }, [isLoggedOut]);
}

/** A link with ?tz= shows its zone, without changing the one that this browser keeps. */
function useZoneOfUrl(): void {
  const { tz } = useSearch({ strict: false }) as { tz?: string };
  useEffect(() => {
    if (isZone(tz)) setZone(tz, false);
  }, [tz]);
}

function useGoKeys(): void {
  const navigate = useNavigate();
  const { may } = useMe();
  const handlers: Handlers = {};
  for (const page of PAGES) {
    handlers[page.key] = () => {
      if (!may(page.needs)) return false;
      void navigate({ to: page.to });
      return true;
    };
  }
  useKeys(handlers);
}
