import { useQuery } from "@tanstack/react-query";
import { runs } from "@/api/queries";
import type { RunPage } from "@/api/types.gen";
import { PathStages } from "@/explain/PathStages";
import { ErrorNote } from "@/parts/ErrorNote";
import { Loading } from "@/parts/Loading";
import { Section } from "@/parts/Section";
import { shortMoment } from "@/time/format";
import { useNow } from "@/time/useNow";
import { useZone } from "@/time/zone";
import classes from "./run.module.css";
import { whyText } from "./why";

/** Why the run has its status: a sentence, the words of the machine, and what each stage decided. */
export function Why({ page }: { page: RunPage }) {
  const { data: path, error, isPending } = useQuery(runs.explain(page.run.id));
  const zone = useZone();
  const now = useNow(60_000);
  return (
    <Section title="Why" more={<span>decision record</span>}>
      <p className={classes.why}>{whyText(page.why, (time) => shortMoment(time, zone, now))}</p>
      <p className={classes.machine}>
        <code>{[page.run.status, page.run.reason, page.why.code].filter(Boolean).join(" · ")}</code>
      </p>
      <ErrorNote error={error} />
      {isPending && <Loading rows={4} />}
      {path && <PathStages path={path} />}
    </Section>
  );
}
