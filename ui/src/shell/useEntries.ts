import { useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMe } from "@/access/useMe";
import { jobs, server } from "@/api/queries";
import type { JobView } from "@/api/types.gen";
import { useList } from "@/api/useList";
import { useJobActions } from "@/pages/jobs/useJobActions";
import type { Entry } from "./entries";
import { PAGES } from "./pages";
import { usePauseAll } from "./usePauseAll";

const action = (id: string, title: string, run: () => void, question?: string): Entry => ({
  ...{ id, title, kind: "action", run },
  ...(question ? { question } : {}),
});

/** Everything that the palette offers to this user: pages, actions, jobs and workflows, and "Run JOB now". */
export function useEntries(onHelp: () => void): Entry[] {
  const navigate = useNavigate();
  const { may } = useMe();
  const { items } = useList(jobs.list({ limit: 1000 }));
  const { run: start } = useJobActions();
  const open = ({ id, kind }: JobView) => {
    if (kind === "workflow") void navigate({ to: "/workflows/$workflowId", params: { workflowId: id } });
    else if (kind === "chain") void navigate({ to: "/chain-classes/$classId", params: { classId: id } });
    else void navigate({ to: "/jobs/$jobId", params: { jobId: id } });
  };
  const pages = PAGES.filter((page) => may(page.needs)).map((page) => ({
    id: page.to,
    title: page.title,
    kind: "page",
    run: () => void navigate({ to: page.to }),
  }));
  const named = items.map((job) => ({ id: `job-${job.id}`, title: job.id, kind: job.kind, run: () => open(job) }));
  const runs = items.map((job) =>
    action(`run-${job.id}`, `Run ${job.id} now`, () => start.mutate({ id: job.id }), `Run ${job.id} now?`),
  );
  return [...pages, ...useActions(onHelp), ...named, ...(may("operate") ? runs : [])];
}

function useActions(onHelp: () => void): Entry[] {
  const navigate = useNavigate();
  const { may } = useMe();
  const { data: status } = useQuery(server.status());
  const { pause, resume } = usePauseAll();
  const { setColorScheme } = useMantineColorScheme();
  const isDark = useComputedColorScheme("light", { getInitialValueInEffect: false }) === "dark";
  const actions: Entry[] = [];
  if (may("edit")) {
    const write = () => void navigate({ to: "/new/job", search: { way: "toml" } });
    actions.push(
      action("new", "New job", () => void navigate({ to: "/new/job" })),
      action("new-toml", "New workflow, fanout or chain", write),
    );
  }
  if (may("operate") && status) {
    actions.push(
      status.paused
        ? action("resume-all", "Resume all schedules", () => resume.mutate(undefined))
        : action(
            "pause-all",
            "Pause all schedules",
            () => pause.mutate(undefined),
            "Pause all schedules? Their ticks are skipped until they are resumed.",
          ),
    );
  }
  const theme = isDark ? "light" : "dark";
  actions.push(
    action("theme", `Switch to the ${theme} theme`, () => setColorScheme(theme)),
    action("help", "Show all keys", onHelp),
  );
  return actions;
}
