import { Link, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { ChainView } from "@/api/types.gen";
import type { List } from "@/api/useList";
import { type Column, Table } from "@/parts/Table";
import { Duration, MomentText } from "@/parts/times";
import { ChainWord } from "./ChainWord";
import { spent } from "./outcome";

const COLUMNS: readonly Column<ChainView>[] = [
  {
    key: "id",
    title: "Chain",
    render: (chain) => (
      <Link to="/chains/$chainId" params={{ chainId: chain.run_id }} title={chain.id}>
        {chain.id}
      </Link>
    ),
  },
  { key: "state", title: "State", width: "140px", render: (chain) => <ChainWord chain={chain} /> },
  { key: "armed", title: "Armed", width: "110px", isWide: true, render: (chain) => <MomentText at={chain.armed_at} /> },
  {
    key: "duration",
    title: "Took",
    align: "right",
    width: "104px",
    isWide: true,
    render: (chain) =>
      chain.closed_at ? (
        <Duration seconds={(Date.parse(chain.closed_at) - Date.parse(chain.armed_at)) / 1_000} />
      ) : (
        <Duration since={chain.armed_at} />
      ),
  },
  {
    key: "steps",
    title: "Steps",
    align: "right",
    width: "76px",
    isWide: true,
    render: (chain) => chain.step_count.toLocaleString("en"),
  },
  {
    key: "spent",
    title: "Spent",
    align: "right",
    width: "150px",
    isWide: true,
    render: (chain) => <span className="muted">{spent(chain) || "–"}</span>,
  },
];

/** Chains, newest first. */
export function ChainTable({ list, empty }: { list: List<ChainView>; empty: ReactNode }) {
  const navigate = useNavigate();
  return (
    <Table
      label="Chains"
      columns={COLUMNS}
      rows={list.items}
      rowKey={(chain) => chain.run_id}
      list={list}
      onOpen={(chain) => void navigate({ to: "/chains/$chainId", params: { chainId: chain.run_id } })}
      empty={empty}
    />
  );
}
