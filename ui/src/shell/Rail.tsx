import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useMe } from "@/access/useMe";
import { server } from "@/api/queries";
import { StatusIcon } from "@/status/StatusIcon";
import { Brand } from "./Brand";
import { PAGES, type RailPage, TABS } from "./pages";
import classes from "./Rail.module.css";

/** The pages, with what needs a look beside them; on a phone five tabs at the bottom. */
export function Rail() {
  const { may } = useMe();
  const counts = useCounts();
  const pages = PAGES.filter((page) => may(page.needs));
  const link = (page: RailPage) => (
    <Link key={page.to} to={page.to} className={classes.link} activeOptions={{ exact: page.to === "/" }}>
      <page.icon size={16} stroke={1.6} aria-hidden />
      {page.title}
      <span className={classes.count}>{counts[page.to]}</span>
    </Link>
  );
  return (
    <>
      <nav className={`${classes.rail} wide`} aria-label="Main">
        <Link to="/" className={classes.brand}>
          <Brand />
          foliot
        </Link>
        {pages.filter((page) => !page.isSecond).map(link)}
        <hr />
        {pages.filter((page) => page.isSecond).map(link)}
        <Foot />
      </nav>
      <nav className={`${classes.tabs} narrow`} aria-label="Main">
        {PAGES.filter((page) => TABS.includes(page.to)).map((page) => (
          <Link key={page.to} to={page.to} activeOptions={{ exact: page.to === "/" }}>
            <page.icon size={20} stroke={1.6} aria-hidden />
            {page.title}
          </Link>
        ))}
      </nav>
    </>
  );
}

function useCounts(): Partial<Record<RailPage["to"], ReactNode>> {
  const { data: status } = useQuery(server.status());
  if (!status) return {};
  const open = status.notices.find((notice) => notice.code === "breakers_open");
  const failing = status.failing.length;
  const running = status.depth?.running ?? 0;
  return {
    "/": failing > 0 && flagged("failed", failing),
    "/runs": running > 0 && flagged("running", running),
    "/chains": open?.code === "breakers_open" && flagged("open", open.breakers.length),
    "/workers": status.workers.length || null,
  };
}

function flagged(status: string, count: number) {
  return (
    <>
      <StatusIcon status={status} size={13} alone />
      {count.toLocaleString("en")}
    </>
  );
}

function Foot() {
  const { data: status } = useQuery(server.status());
  const { data: version } = useQuery({ ...server.version(), staleTime: Number.POSITIVE_INFINITY });
  const workers = status?.workers ?? [];
  const [used, slots] = [
    workers.reduce((sum, one) => sum + one.running, 0),
    workers.reduce((sum, one) => sum + one.slots, 0),
  ];
  return (
    <div className={classes.foot}>
      {status && (
        <span>
          {used} of {slots} slots in use
        </span>
      )}
      {version && <span>Foliot {version.version}</span>}
    </div>
  );
}
