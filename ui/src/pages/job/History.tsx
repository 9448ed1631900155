import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { ErrorNote } from "@/parts/ErrorNote";
import { Loading } from "@/parts/Loading";
import { Section } from "@/parts/Section";
import { Chart } from "./Chart";
import { history } from "./queries";

const LEAST = 30;

interface Props {
  jobId: string;
  /** How many runs: 30 or 90. */
  count: number;
  onCount: (count: number) => void;
}

/** How long the newest runs took, and how long they waited to start. */
export function History({ jobId, count, onCount }: Props) {
  const { data, error, isPending, refetch } = useQuery(history(jobId, count));
  return (
    <Section
      title="History"
      note={
        data && data.runs.length > 0
          ? data.runs.length === 1
            ? "one run"
            : `the last ${data.runs.length} runs`
          : undefined
      }
      plain
      more={
        <SegmentedControl
          aria-label="How many runs"
          data={[
            { value: "30", label: "30 runs" },
            { value: "90", label: "90 runs" },
          ]}
          value={String(count)}
          onChange={(value) => onCount(Number(value))}
        />
      }
    >
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {isPending && <Loading rows={5} />}
      {data && data.runs.length === 0 && <p className="faint">No run has ended yet.</p>}
      {data && data.runs.length > 0 && <Chart history={data} places={Math.max(LEAST, data.runs.length)} />}
    </Section>
  );
}
