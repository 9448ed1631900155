import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMe } from "@/access/useMe";
import { server } from "@/api/queries";
import { ErrorNote } from "@/parts/ErrorNote";
import { Loading } from "@/parts/Loading";
import { PageTitle } from "@/parts/PageTitle";
import { Section } from "@/parts/Section";
import { RelativeTime } from "@/parts/times";
import { StatusIcon } from "@/status/StatusIcon";
import classes from "./Doctor.module.css";
import { type DoctorCheck, type DoctorReport, SEVERITIES, summary, worstFirst } from "./report";
import { Verification } from "./Verification";

/** What is wrong with this installation, and what to do. */
export function DoctorPage() {
  const { may } = useMe();
  return may("administer") ? (
    <Report />
  ) : (
    <PageTitle title="Doctor" sub="Only administrators see what is wrong with the installation." />
  );
}

function Report() {
  const query = useQuery({ ...server.doctor(), staleTime: 30_000 });
  const report = query.data as unknown as DoctorReport | undefined;
  return (
    <>
      <PageTitle
        title="Doctor"
        sub={report ? summary(report) : "The configuration, the database, clocks and the machine of the server."}
        actions={
          <Button loading={query.isFetching} onClick={() => void query.refetch()}>
            Check again
          </Button>
        }
      />
      <ErrorNote error={query.error} onRetry={() => void query.refetch()} />
      {query.isPending && <Loading rows={8} />}
      {report && (
        <Section
          title="Checks"
          note={
            <>
              <RelativeTime at={report.at} />, Foliot {report.version}, time zone data {report.tzdata}
            </>
          }
        >
          {worstFirst(report.checks).map((check) => (
            <Check key={check.name} check={check} />
          ))}
        </Section>
      )}
      <Verification />
    </>
  );
}

function Check({ check }: { check: DoctorCheck }) {
  const { status, word } = SEVERITIES[check.severity];
  return (
    <div className={classes.check}>
      <StatusIcon status={status} />
      <span className={classes.name}>{check.name}</span>
      {check.findings.length === 0 && <span className={`faint ${classes.word}`}>{word}</span>}
      <ul className={classes.findings}>
        {check.findings.map((finding) => (
          <li key={finding.message}>
            <span className={SEVERITIES[finding.severity].hue}>{SEVERITIES[finding.severity].word}</span>{" "}
            {finding.message}
            <p className="muted">{finding.hint}</p>
          </li>
        ))}
      </ul>
    </div>
  );
}
