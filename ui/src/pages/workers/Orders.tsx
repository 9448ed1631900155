import { Button } from "@mantine/core";
import type { WorkerView } from "@/api/types.gen";
import { Confirm } from "@/parts/Confirm";
import type { useOrders } from "./useOrders";

/** What an administrator can order a live worker to do. */
export function Orders({ worker, orders }: { worker: WorkerView; orders: ReturnType<typeof useOrders> }) {
  const { pause, resume, drain } = orders;
  if (!worker.is_alive || worker.is_draining || worker.order === "drain") return null;
  return (
    <span className="row" style={{ justifyContent: "flex-end" }}>
      {worker.order === "pause" ? (
        <Button onClick={() => resume.mutate(worker)}>Resume</Button>
      ) : (
        <Button onClick={() => pause.mutate(worker)}>Pause</Button>
      )}
      <Confirm
        target={(open) => <Button onClick={open}>Drain</Button>}
        title={`Drain ${worker.name}?`}
        text="It finishes its runs, takes no more and stops. It must be started again on its machine."
        action="Drain"
        isDangerous
        onConfirm={() => drain.mutate(worker)}
      />
    </span>
  );
}
