import { Button, Select, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { api } from "@/api/client";
import { useAction } from "@/api/mutations";
import type { NewToken } from "@/api/types.gen";
import { ErrorNote } from "@/parts/ErrorNote";
import { ROLES } from "./roles";
import classes from "./Settings.module.css";

const TRIGGER = "trigger";
const LIFETIMES = [
  { value: "0", label: "never" },
  { value: "30", label: "in 30 days" },
  { value: "90", label: "in 90 days" },
  { value: "365", label: "in a year" },
];
const DAY = 86_400_000;

interface Values {
  name: string;
  role: string;
  job: string;
  days: string;
}

export function TokenForm({ onCreated }: { onCreated: (token: NewToken) => void }) {
  const form = useForm<Values>({ initialValues: { name: "", role: "viewer", job: "", days: "90" } });
  const create = useAction({
    send: (values: Values) => api.post("/api/tokens", { body: bodyOf(values) }),
    changes: ["tokens", "me"],
    isQuiet: true,
    onSuccess: (token) => {
      form.reset();
      onCreated(token);
    },
  });
  const roles = [...ROLES, { value: TRIGGER, label: "trigger: start one job, nothing else" }];
  return (
    <form className={classes.form} onSubmit={form.onSubmit((values) => create.mutate(values))}>
      <TextInput label="Name" placeholder="dashboard" {...form.getInputProps("name")} />
      <Select label="May" data={roles} allowDeselect={false} w={280} {...form.getInputProps("role")} />
      {form.values.role === TRIGGER && <TextInput label="Job or workflow" required {...form.getInputProps("job")} />}
      <Select label="Expires" data={LIFETIMES} allowDeselect={false} w={140} {...form.getInputProps("days")} />
      <Button type="submit" variant="filled" loading={create.isPending}>
        Create token
      </Button>
      <ErrorNote error={create.error} />
    </form>
  );
}

function bodyOf({ name, role, job, days }: Values) {
  const lifetime = Number(days) * DAY;
  return {
    name: name.trim() || null,
    ...(role === TRIGGER ? { job: job.trim() } : { role }),
    expires: lifetime ? new Date(Date.now() + lifetime).toISOString() : null,
  };
}
