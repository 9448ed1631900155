import { Link } from "@tanstack/react-router";
import { chains } from "@/api/queries";
import type { ChainDetailView } from "@/api/types.gen";
import { useList } from "@/api/useList";
import { chainEntry } from "@/pages/chains/outcome";
import { Section } from "@/parts/Section";
import { MomentText } from "@/parts/times";
import { GlyphIcon } from "@/status/StatusIcon";
import { duration } from "@/time/format";
import classes from "./chain.module.css";

const MOST = 6;

/** The newest other chains of the class. */
export function OtherChains({ chain }: { chain: ChainDetailView }) {
  const list = useList(chains.list({ class_id: chain.class_id, limit: MOST + 1 }));
  const others = list.items.filter((one) => one.run_id !== chain.run_id).slice(0, MOST);
  if (others.length === 0) return null;
  return (
    <Section
      title="Other chains of the class"
      more={
        <Link to="/chains" search={{ class: chain.class_id }}>
          All
        </Link>
      }
    >
      <ul>
        {others.map((one) => {
          const { hue, glyph, word } = chainEntry(one);
          const took = one.closed_at ? (Date.parse(one.closed_at) - Date.parse(one.armed_at)) / 1_000 : null;
          return (
            <li key={one.run_id} className={classes.other}>
              <GlyphIcon glyph={glyph} hue={hue} />
              <Link to="/chains/$chainId" params={{ chainId: one.run_id }} className="grow">
                <MomentText at={one.armed_at} /> <span className="faint">{word}</span>
              </Link>
              <span className="faint">{took === null ? "open" : duration(took)}</span>
            </li>
          );
        })}
      </ul>
    </Section>
  );
}
