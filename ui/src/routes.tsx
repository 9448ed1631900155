/** The one table of routes. A page owns its folder: its component, and the search params that it validates. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  retainSearchParams,
} from "@tanstack/react-router";
import { basePath } from "@/api/base";
import { validateAuditSearch } from "@/pages/audit/search";
import { validateChainClassSearch, validateChainSearch } from "@/pages/chain/search";
import { validateChainsSearch } from "@/pages/chains/search";
import { validateDoctorSearch } from "@/pages/doctor/search";
import { validateHomeSearch } from "@/pages/home/search";
import { validateImportSearch } from "@/pages/import/search";
import { validateJobSearch } from "@/pages/job/search";
import { validateEditJobSearch, validateNewJobSearch } from "@/pages/jobform/search";
import { validateJobsSearch } from "@/pages/jobs/search";
import { validateLedgerSearch } from "@/pages/ledger/search";
import { validateRunSearch } from "@/pages/run/search";
import { validateRunsSearch } from "@/pages/runs/search";
import { validateScheduleSearch } from "@/pages/schedule/search";
import { validateSettingsSearch } from "@/pages/settings/search";
import { validateTimelineSearch } from "@/pages/timeline/search";
import { validateWorkersSearch } from "@/pages/workers/search";
import { validateWorkflowSearch } from "@/pages/workflow/search";
import { validateWorkflowsSearch } from "@/pages/workflows/search";
import { Loading } from "@/parts/Loading";
import { NotFound } from "@/shell/NotFound";
import { PageError } from "@/shell/PageError";
import { Shell } from "@/shell/Shell";
import { isZone } from "@/time/zone";

const root = createRootRoute({
  component: Shell,
  // The zone of all times stays in the address from page to page.
  validateSearch: (search: Record<string, unknown>): { tz?: string } => (isZone(search.tz) ? { tz: search.tz } : {}),
  search: { middlewares: [retainSearchParams(["tz"])] },
  notFoundComponent: NotFound,
});

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  validateSearch: validateHomeSearch,
  component: lazyRouteComponent(() => import("@/pages/home/HomePage"), "HomePage"),
});
const jobs = createRoute({
  getParentRoute: () => root,
  path: "/jobs",
  validateSearch: validateJobsSearch,
  component: lazyRouteComponent(() => import("@/pages/jobs/JobsPage"), "JobsPage"),
});
const job = createRoute({
  getParentRoute: () => root,
  path: "/jobs/$jobId",
  validateSearch: validateJobSearch,
  component: lazyRouteComponent(() => import("@/pages/job/JobPage"), "JobPage"),
});
const newJob = createRoute({
  getParentRoute: () => root,
  path: "/new/job",
  validateSearch: validateNewJobSearch,
  component: lazyRouteComponent(() => import("@/pages/jobform/NewJobPage"), "NewJobPage"),
});
const editJob = createRoute({
  getParentRoute: () => root,
  path: "/jobs/$jobId/edit",
  validateSearch: validateEditJobSearch,
  component: lazyRouteComponent(() => import("@/pages/jobform/EditJobPage"), "EditJobPage"),
});
const runs = createRoute({
  getParentRoute: () => root,
  path: "/runs",
  validateSearch: validateRunsSearch,
  component: lazyRouteComponent(() => import("@/pages/runs/RunsPage"), "RunsPage"),
});
const run = createRoute({
  getParentRoute: () => root,
  path: "/runs/$runId",
  validateSearch: validateRunSearch,
  component: lazyRouteComponent(() => import("@/pages/run/RunPage"), "RunPage"),
});
const timeline = createRoute({
  getParentRoute: () => root,
  path: "/timeline",
  validateSearch: validateTimelineSearch,
  component: lazyRouteComponent(() => import("@/pages/timeline/TimelinePage"), "TimelinePage"),
});
const workflows = createRoute({
  getParentRoute: () => root,
  path: "/workflows",
  validateSearch: validateWorkflowsSearch,
  component: lazyRouteComponent(() => import("@/pages/workflows/WorkflowsPage"), "WorkflowsPage"),
});
const workflow = createRoute({
  getParentRoute: () => root,
  path: "/workflows/$workflowId",
  validateSearch: validateWorkflowSearch,
  component: lazyRouteComponent(() => import("@/pages/workflow/WorkflowPage"), "WorkflowPage"),
});
const chains = createRoute({
  getParentRoute: () => root,
  path: "/chains",
  validateSearch: validateChainsSearch,
  component: lazyRouteComponent(() => import("@/pages/chains/ChainsPage"), "ChainsPage"),
});
const chain = createRoute({
  getParentRoute: () => root,
  path: "/chains/$chainId",
  validateSearch: validateChainSearch,
  component: lazyRouteComponent(() => import("@/pages/chain/ChainPage"), "ChainPage"),
});
const chainClass = createRoute({
  getParentRoute: () => root,
  path: "/chain-classes/$classId",
  validateSearch: validateChainClassSearch,
  component: lazyRouteComponent(() => import("@/pages/chain/ChainClassPage"), "ChainClassPage"),
});
const ledger = createRoute({
  getParentRoute: () => root,
  path: "/ledger",
  validateSearch: validateLedgerSearch,
  component: lazyRouteComponent(() => import("@/pages/ledger/LedgerPage"), "LedgerPage"),
});
const schedule = createRoute({
  getParentRoute: () => root,
  path: "/schedules/$scheduleId",
  validateSearch: validateScheduleSearch,
  component: lazyRouteComponent(() => import("@/pages/schedule/SchedulePage"), "SchedulePage"),
});
const workers = createRoute({
  getParentRoute: () => root,
  path: "/workers",
  validateSearch: validateWorkersSearch,
  component: lazyRouteComponent(() => import("@/pages/workers/WorkersPage"), "WorkersPage"),
});
const importing = createRoute({
  getParentRoute: () => root,
  path: "/import",
  validateSearch: validateImportSearch,
  component: lazyRouteComponent(() => import("@/pages/import/ImportPage"), "ImportPage"),
});
const audit = createRoute({
  getParentRoute: () => root,
  path: "/audit",
  validateSearch: validateAuditSearch,
  component: lazyRouteComponent(() => import("@/pages/audit/AuditPage"), "AuditPage"),
});
const doctor = createRoute({
  getParentRoute: () => root,
  path: "/doctor",
  validateSearch: validateDoctorSearch,
  component: lazyRouteComponent(() => import("@/pages/doctor/DoctorPage"), "DoctorPage"),
});
const settings = createRoute({
  getParentRoute: () => root,
  path: "/settings",
  validateSearch: validateSettingsSearch,
  component: lazyRouteComponent(() => import("@/pages/settings/SettingsPage"), "SettingsPage"),
});
const login = createRoute({
  getParentRoute: () => root,
  path: "/login",
  component: lazyRouteComponent(() => import("@/pages/login/LoginPage"), "LoginPage"),
});

export function createAppRouter() {
  return createRouter({
    routeTree: root.addChildren([
      home,
      jobs,
      job,
      newJob,
      editJob,
      runs,
      run,
      timeline,
      workflows,
      workflow,
      chains,
      chain,
      chainClass,
      ledger,
      schedule,
      workers,
      importing,
      audit,
      doctor,
      settings,
      login,
    ]),
    basepath: basePath || "/",
    defaultPreload: "intent",
    defaultPendingComponent: Loading,
    defaultErrorComponent: PageError,
    scrollRestoration: true,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
