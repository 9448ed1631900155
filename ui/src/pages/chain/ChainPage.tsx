import { Button } from "@mantine/core";
import { IconSquare } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { useMe } from "@/access/useMe";
import { api } from "@/api/client";
import { useAction } from "@/api/mutations";
import { chains } from "@/api/queries";
import type { ChainDetailView } from "@/api/types.gen";
import { ChainWord } from "@/pages/chains/ChainWord";
import { chainEntry, isOpen } from "@/pages/chains/outcome";
import { Confirm } from "@/parts/Confirm";
import { ErrorNote } from "@/parts/ErrorNote";
import { Loading } from "@/parts/Loading";
import { Note } from "@/parts/Note";
import { PageTitle } from "@/parts/PageTitle";
import { Duration, MomentText } from "@/parts/times";
import { shortMoment } from "@/time/format";
import { useNow } from "@/time/useNow";
import { useZone } from "@/time/zone";
import { TimeChart } from "@/timechart/TimeChart";
import { ChainSteps } from "./ChainSteps";
import classes from "./chain.module.css";
import { Limits } from "./Limits";
import { OtherChains } from "./OtherChains";
import { StepDrawer } from "./StepDrawer";
import { timelineOf } from "./timeline";

/** One chain from its scout to its close. */
export function ChainPage() {
  const { chainId } = useParams({ from: "/chains/$chainId" });
  const { step } = useSearch({ from: "/chains/$chainId" });
  const navigate = useNavigate({ from: "/chains/$chainId" });
  const query = useQuery(chains.get(chainId));
  const chain = query.data;
  const show = (key: string | undefined) =>
    void navigate({ search: (old) => ({ ...old, step: key === step ? undefined : key }), replace: true });
  if (query.error) return <ErrorNote error={query.error} onRetry={() => void query.refetch()} />;
  if (!chain) return <Loading rows={10} />;
  const index = chain.steps.findIndex((one) => one.key === step);
  const found = chain.steps[index];
  const goTo = (to: number) => {
    const next = chain.steps[to];
    return next ? () => show(next.key) : undefined;
  };
  return (
    <>
      <PageTitle
        title={chain.id}
        note={<ChainWord chain={chain} />}
        sub={<Story chain={chain} />}
        actions={<Stop chain={chain} />}
      />
      {chain.cause && chain.outcome !== "resolved" && (
        <div className={classes.note}>
          <Note hue={chainEntry(chain).hue === "bad" ? "bad" : "look"}>{chain.cause}</Note>
        </div>
      )}
      <div className={classes.frame}>
        <div className={classes.columns}>
          <div className={classes.main}>
            <Chart chain={chain} open={step} onOpen={show} />
            <ChainSteps chain={chain} open={step} onOpen={show} />
            {chain.refused_requests.map((one) => (
              <p key={`${one.at}${one.code}`} className={classes.refused}>
                <MomentText at={one.at} /> refused {one.step && `a request of ${one.step}`}: {one.message}{" "}
                <code className="faint">{one.code}</code>
              </p>
            ))}
          </div>
          <aside className={classes.side}>
            <Limits chain={chain} />
            <OtherChains chain={chain} />
          </aside>
        </div>
      </div>
      {found && (
        <StepDrawer
          key={found.key}
          step={found}
          onClose={() => show(undefined)}
          onPrevious={goTo(index - 1)}
          onNext={goTo(index + 1)}
        />
      )}
    </>
  );
}

/** What happened, in a sentence. */
function Story({ chain }: { chain: ChainDetailView }) {
  const latest = chain.state_changes.at(-1);
  return (
    <>
      Of{" "}
      <Link to="/chain-classes/$classId" params={{ classId: chain.class_id }} className={classes.link}>
        {chain.class_id}
      </Link>
      , armed <MomentText at={chain.armed_at} />
      {chain.closed_at ? (
        <>
          , closed <MomentText at={chain.closed_at} /> after{" "}
          <Duration seconds={(Date.parse(chain.closed_at) - Date.parse(chain.armed_at)) / 1_000} />
          {chain.outcome === "resolved" && chain.cause ? `: ${chain.cause}.` : "."}
        </>
      ) : (
        <>
          {latest && (
            <>
              . {capital(latest.state.replace("_", " "))} since <MomentText at={latest.at} />: {latest.cause}
            </>
          )}
          {chain.deadline && (
            <>
              . It closes by itself at <MomentText at={chain.deadline} />
            </>
          )}
          .
        </>
      )}
    </>
  );
}

const capital = (words: string) => words.charAt(0).toUpperCase() + words.slice(1);

function Chart({
  chain,
  open,
  onOpen,
}: {
  chain: ChainDetailView;
  open: string | undefined;
  onOpen: (key: string) => void;
}) {
  const zone = useZone();
  const now = useNow(10_000);
  const line = useMemo(() => timelineOf(chain, now, (at) => shortMoment(at, zone, now)), [chain, now, zone]);
  return (
    <TimeChart
      label={`Steps of ${chain.id} over time`}
      {...line}
      hasNow={isOpen(chain)}
      open={open}
      onOpen={(key) => key !== "close" && onOpen(key)}
    />
  );
}

function Stop({ chain }: { chain: ChainDetailView }) {
  const { may } = useMe();
  const stop = useAction({
    send: () => api.post("/api/chains/{chain_id}/stop", { path: { chain_id: chain.run_id } }),
    changes: ["chains", "chain-classes", "runs"],
    done: () => `${chain.id} is being stopped`,
  });
  if (!may("operate") || !isOpen(chain)) return null;
  return (
    <Confirm
      target={(open) => (
        <Button leftSection={<IconSquare size={14} />} loading={stop.isPending} onClick={open}>
          Stop chain
        </Button>
      )}
      title="Stop this chain?"
      text="Its steps to come are cancelled, a running one is ended. Other chains of its class go on."
      action="Stop it"
      isDangerous
      onConfirm={() => stop.mutate(undefined)}
    />
  );
}
