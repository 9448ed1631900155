import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useMe } from "@/access/useMe";
import { server } from "@/api/queries";
import type { FindingView, Verified } from "@/api/types.gen";
import { ErrorNote } from "@/parts/ErrorNote";
import { RunLink, ScheduleLink } from "@/parts/links";
import { Section } from "@/parts/Section";
import { Table } from "@/parts/Table";
import { MomentText } from "@/parts/times";
import { StatusIcon } from "@/status/StatusIcon";
import { counted } from "@/time/format";
import classes from "./Doctor.module.css";

/** Compares the ledger with the schedules, when somebody asks for it. */
export function Verification() {
  const { may } = useMe();
  const [isWanted, setWanted] = useState(false);
  const query = useQuery({ ...server.verify(), enabled: isWanted, staleTime: Number.POSITIVE_INFINITY });
  const verify = () => (isWanted ? void query.refetch() : setWanted(true));
  if (!may("operate")) return null;
  return (
    <Section
      title="Ledger"
      note="computes which ticks must exist, and compares them with the stored ones"
      more={
        <Button loading={query.isFetching} onClick={verify}>
          Verify
        </Button>
      }
    >
      <ErrorNote error={query.error} onRetry={verify} />
      {query.data && <Result found={query.data} />}
    </Section>
  );
}

function Result({ found }: { found: Verified }) {
  const checked = `${counted(found.schedules, "schedule")} and ${counted(found.ticks, "tick")} checked`;
  return (
    <>
      <p className={classes.result} role="status">
        <StatusIcon status={found.is_sound ? "success" : "failed"} />
        <span>{found.is_sound ? "No problems found." : `${counted(found.faults, "problem")} found.`}</span>
        <span className="faint">{checked}</span>
      </p>
      {found.findings.length > 0 && (
        <Table
          label="Problems of the ledger"
          rows={found.findings}
          rowKey={(one) => [one.schedule_id, one.row, one.fault, one.first].join(" ")}
          hasKeys={false}
          columns={COLUMNS}
          empty={null}
        />
      )}
    </>
  );
}

const COLUMNS = [
  { key: "fault", title: "Problem", width: "160px", render: (one: FindingView) => one.fault.replace(/_/g, " ") },
  { key: "where", title: "Where", render: (one: FindingView) => <Place finding={one} /> },
  { key: "first", title: "First", width: "150px", render: (one: FindingView) => <MomentText at={one.first} /> },
  {
    key: "last",
    title: "Last",
    width: "150px",
    render: (one: FindingView) => <MomentText at={one.last} />,
    isWide: true,
  },
  { key: "count", title: "Ticks", width: "70px", align: "right" as const, render: (one: FindingView) => one.count },
];

function Place({ finding }: { finding: FindingView }) {
  if (finding.schedule_id) return <ScheduleLink id={finding.schedule_id} />;
  if (finding.run_id) return <RunLink id={finding.run_id} />;
  return <span className="clip">{finding.row}</span>;
}
