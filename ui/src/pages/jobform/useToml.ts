import { useQuery } from "@tanstack/react-query";
import { one } from "@/api/queries";

/** The definition of a job or a workflow as TOML, with masked secrets. */
export function useToml(id: string, isWorkflow: boolean) {
  const job = useQuery({ ...one("jobs", "/api/jobs/{job_id}/toml", { path: { job_id: id } }), enabled: !isWorkflow });
  const workflow = useQuery({
    ...one("workflows", "/api/workflows/{workflow_id}/toml", { path: { workflow_id: id } }),
    enabled: isWorkflow,
  });
  return isWorkflow ? workflow : job;
}
