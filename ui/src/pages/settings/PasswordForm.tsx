import { Button, PasswordInput, Popover } from "@mantine/core";
import { useState } from "react";
import { api } from "@/api/client";
import { useAction } from "@/api/mutations";
import { ErrorNote } from "@/parts/ErrorNote";

/** A button with a popover that sets the password of a user. */
export function PasswordForm({ name }: { name: string }) {
  const [isOpen, setOpen] = useState(false);
  const [password, setPassword] = useState("");
  const change = useAction({
    send: (next: string) => api.put("/api/users/{name}/password", { path: { name }, body: { password: next } }),
    changes: ["users", "me"],
    done: () => `${name} has a new password and is logged out everywhere.`,
    isQuiet: true,
    onSuccess: () => setOpen(false),
  });
  const toggle = () => {
    setPassword("");
    change.reset();
    setOpen(!isOpen);
  };
  return (
    <Popover opened={isOpen} onChange={setOpen} width={280} trapFocus returnFocus withArrow>
      <Popover.Target>
        <Button onClick={toggle}>Set password</Button>
      </Popover.Target>
      <Popover.Dropdown>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            change.mutate(password);
          }}
        >
          <PasswordInput
            label={`New password of ${name}`}
            autoComplete="new-password"
            required
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <ErrorNote error={change.error} />
          <Button type="submit" variant="filled" mt={12} loading={change.isPending}>
            Set password
          </Button>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}
