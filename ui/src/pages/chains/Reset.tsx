import { Button, Popover, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { useClassActions } from "./useClassActions";

/** Closes a breaker before its cooldown is over. The reason goes into the audit trail. */
export function Reset({ classId }: { classId: string }) {
  const [isOpen, setOpen] = useState(false);
  const [reason, setReason] = useState("");
  const { reset } = useClassActions(classId);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (reason.trim() === "") return;
    reset.mutate(reason.trim(), { onSuccess: () => setOpen(false) });
  };
  return (
    <Popover opened={isOpen} onChange={setOpen} width={320} position="bottom-end" trapFocus returnFocus>
      <Popover.Target>
        <Button aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Reset
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <form onSubmit={submit}>
          <h2>Close the breaker of {classId}?</h2>
          <p className="muted">It arms chains again at once, before its cooldown is over.</p>
          <TextInput
            mt={8}
            label="Reason"
            placeholder="the provider is back"
            value={reason}
            onChange={(event) => setReason(event.target.value)}
            data-autofocus
          />
          <div className="row" style={{ marginTop: 12, justifyContent: "flex-end" }}>
            <Button onClick={() => setOpen(false)}>Back</Button>
            <Button type="submit" variant="filled" loading={reset.isPending} disabled={reason.trim() === ""}>
              Reset
            </Button>
          </div>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}
