import { describe, expect, it } from "vitest";
import type { ChainDetailView, ChainStepView } from "@/api/types.gen";
import { chainEntry, spent } from "@/pages/chains/outcome";
import { timelineOf } from "./timeline";

const at = (minute: number) => `2026-11-18T12:${String(minute).padStart(2, "0")}:00Z`;
const step = (key: string, begin: number, end: number | null, cause: string): ChainStepView => ({
  key,
  stage: key.split(".")[0] as string,
  depth: 0,
  attempt: 1,
  run_id: key,
  status: end === null ? "scheduled" : "success",
  due_at: at(begin),
  started_at: end === null ? null : at(begin),
  finished_at: end === null ? null : at(end),
  cause,
  decision: null,
  reason: "",
  tokens: 0,
  usd: 0,
});
const chain = (given: Partial<ChainDetailView>) =>
  ({
    id: "c",
    state: "active",
    outcome: null,
    armed_at: at(1),
    deadline: null,
    expires_at: at(50),
    closed_at: null,
    steps: [step("scout.1", 0, 1, "the run began"), step("action.1", 2, null, "scout.1 decided trigger")],
    ...given,
  }) as ChainDetailView;
const short = () => "12:50";

describe("the timeline of a chain", () => {
  it("has a row for each stage and a line from each cause", () => {
    const line = timelineOf(chain({}), Date.parse(at(3)), short);
    expect(line.rows.map((row) => row.word)).toEqual(["scout", "action"]);
    expect(line.links).toEqual([["scout.1", "action.1"]]);
    expect(line.rows[1]?.bars[0]?.isToCome).toBe(true);
  });

  it("shows when an open chain expires", () => {
    const line = timelineOf(chain({}), Date.parse(at(3)), short);
    expect(line.marks).toEqual([{ at: Date.parse(at(50)), word: "expires 12:50", hue: "bad" }]);
    expect(line.end).toBeGreaterThan(Date.parse(at(50)));
  });

  it("ends with the close of a closed chain", () => {
    const closed = chain({ state: "closed", outcome: "resolved", closed_at: at(9) });
    const line = timelineOf(closed, Date.parse(at(30)), short);
    expect(line.rows.at(-1)?.word).toBe("close");
    expect(line.links.at(-1)).toEqual(["action.1", "close"]);
    expect(line.marks).toEqual([]);
    expect(line.end).toBeLessThan(Date.parse(at(12)));
  });
});

describe("the words of chains", () => {
  it("prefer how it was closed over its state", () => {
    expect(chainEntry({ state: "closed", outcome: "escalated" })).toMatchObject({ hue: "bad", word: "escalated" });
    expect(chainEntry({ state: "cooling_down", outcome: null }).word).toBe("cooling down");
  });

  it("say what was spent", () => {
    expect(spent({ usd: 1.5, tokens: 5_850 })).toBe("$1.50, 5,850 tokens");
    expect(spent({ usd: 0, tokens: 0 })).toBe("");
    expect(spent({ usd: 0.0041, tokens: 0 })).toBe("$0.0041");
  });
});
