import type { ChainView } from "@/api/types.gen";
import { GlyphIcon } from "@/status/StatusIcon";
import classes from "./chains.module.css";
import { chainEntry } from "./outcome";

/** Icon and word of the state of a chain, or of how it was closed. */
export function ChainWord({ chain }: { chain: Pick<ChainView, "state" | "outcome"> }) {
  const { hue, glyph, word, meaning } = chainEntry(chain);
  return (
    <span className={`${classes.word} ${hue}`} title={meaning}>
      <GlyphIcon glyph={glyph} hue={hue} />
      {word}
    </span>
  );
}
