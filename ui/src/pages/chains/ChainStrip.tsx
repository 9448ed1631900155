import type { ChainView } from "@/api/types.gen";
import { TickMark } from "@/ticks/TickMark";
import { chainEntry, chainMark } from "./outcome";

const [WIDTH, HEIGHT, PITCH] = [5, 16, 8];

/** The last chains of a class with the marks of the tick strip, oldest first. */
export function ChainStrip({ chains }: { chains: readonly ChainView[] }) {
  const oldestFirst = [...chains].reverse();
  const words = oldestFirst.map((chain) => chainEntry(chain).word);
  if (chains.length === 0) return <span className="faint">none yet</span>;
  return (
    <svg
      width={oldestFirst.length * PITCH}
      height={HEIGHT + 4}
      role="img"
      aria-label={`Last ${chains.length} chains: ${words.join(", ")}`}
    >
      {oldestFirst.map((chain, index) => (
        <g key={chain.run_id}>
          <title>{`${chain.id}: ${words[index]}`}</title>
          <TickMark mark={chainMark(chain)} x={index * PITCH} y={2} width={WIDTH} height={HEIGHT} />
        </g>
      ))}
    </svg>
  );
}
