/** From the steps of a chain to rows of bars. Pure. */
import type { ChainDetailView, ChainStepView } from "@/api/types.gen";
import { chainEntry } from "@/pages/chains/outcome";
import { entryOf, isFinal } from "@/status/table";
import { duration } from "@/time/format";
import type { Bar, Mark, Row } from "@/timechart/TimeChart";

export interface Timeline {
  rows: Row[];
  links: [from: string, to: string][];
  marks: Mark[];
  begin: number;
  end: number;
}

/** Words beside more bars than this would hide each other. */
const MOST_WORDS = 4;

export function timelineOf(chain: ChainDetailView, now: number, short: (at: number) => string): Timeline {
  const stages = [...new Set(chain.steps.map((step) => step.stage))];
  const rows = stages.map((stage): Row => {
    const steps = chain.steps.filter((step) => step.stage === stage);
    return { key: stage, word: stage, bars: steps.map((step) => barOf(step, steps.length <= MOST_WORDS)) };
  });
  const begins = chain.steps.map((step) => Date.parse(step.started_at ?? step.due_at));
  const ends = chain.steps.map((step) => Date.parse(step.finished_at ?? step.due_at));
  const begin = Math.min(Date.parse(chain.armed_at), ...begins);
  const marks: Mark[] = [];
  let end = Math.max(...ends, Date.parse(chain.armed_at));
  if (chain.closed_at) {
    const closed = Date.parse(chain.closed_at);
    const { hue, word } = chainEntry(chain);
    rows.push({
      key: "close",
      word: "close",
      bars: [{ key: "close", begin: closed, end: closed, hue, title: word, word }],
    });
    end = Math.max(end, closed);
  } else {
    const expires = Date.parse(chain.expires_at);
    end = Math.max(end, now, expires);
    marks.push({ at: expires, word: `expires ${short(expires)}`, hue: "bad" });
    if (chain.deadline) {
      const closes = Date.parse(chain.deadline);
      rows.push({
        key: "close",
        word: "close",
        bars: [
          {
            key: "close",
            begin: closes,
            end: closes,
            hue: "quiet",
            isToCome: true,
            title: `closes by itself at ${short(closes)}`,
          },
        ],
      });
    }
  }
  const keys = new Set(chain.steps.map((step) => step.key));
  const links: [string, string][] = [];
  for (const step of chain.steps) {
    const [cause] = step.cause.split(" ");
    if (cause && keys.has(cause) && cause !== step.key) links.push([cause, step.key]);
  }
  const last = chain.steps.at(-1);
  if (chain.closed_at && last) links.push([last.key, "close"]);
  const room = Math.max((end - begin) * 0.03, 1_000);
  return { rows, links, marks, begin: begin - room, end: end + room };
}

function barOf(step: ChainStepView, hasWord: boolean): Bar {
  const { hue, word } = entryOf(step.status);
  const begin = Date.parse(step.started_at ?? step.due_at);
  const end = step.finished_at === null ? null : Date.parse(step.finished_at);
  const isToCome = step.started_at === null && !isFinal(step.status as never);
  const took = end === null ? "" : duration((end - begin) / 1_000);
  return {
    key: step.key,
    begin,
    end: isToCome ? begin : end,
    hue,
    isToCome,
    title: [step.key, word, took, step.decision && `decided ${step.decision}`].filter(Boolean).join(", "),
    ...(hasWord && took ? { word: took } : {}),
  };
}
