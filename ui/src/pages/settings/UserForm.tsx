import { Button, PasswordInput, Select, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { api } from "@/api/client";
import { useAction } from "@/api/mutations";
import type { UserBody } from "@/api/types.gen";
import { ErrorNote } from "@/parts/ErrorNote";
import { ROLES } from "./roles";
import classes from "./Settings.module.css";

export function UserForm() {
  const form = useForm<UserBody>({ initialValues: { name: "", password: "", role: "viewer" } });
  const add = useAction({
    send: (body: UserBody) => api.post("/api/users", { body }),
    changes: ["users", "me"],
    done: (user) => `${user.name} can log in now.`,
    isQuiet: true,
    onSuccess: () => form.reset(),
  });
  return (
    <form className={classes.form} onSubmit={form.onSubmit((values) => add.mutate(values))}>
      <TextInput label="Name" required autoComplete="off" {...form.getInputProps("name")} />
      <PasswordInput
        label="Password"
        required
        autoComplete="new-password"
        w={200}
        {...form.getInputProps("password")}
      />
      <Select label="Role" data={ROLES} allowDeselect={false} w={280} {...form.getInputProps("role")} />
      <Button type="submit" variant="filled" loading={add.isPending}>
        Add user
      </Button>
      <ErrorNote error={add.error} />
    </form>
  );
}
