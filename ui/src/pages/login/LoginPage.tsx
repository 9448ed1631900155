import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";
import { api } from "@/api/client";
import { useAction } from "@/api/mutations";
import { ErrorNote } from "@/parts/ErrorNote";
import { Brand } from "@/shell/Brand";
import classes from "./LoginPage.module.css";

/** Shown in the place of any page while there is no session; the address stays. */
export function LoginPage() {
  const client = useQueryClient();
  const form = useForm({ initialValues: { name: "", password: "" } });
  const logIn = useAction({
    send: (body: { name: string; password: string }) => api.post("/api/login", { body }),
    changes: [],
    isQuiet: true,
    onSuccess: () => void client.resetQueries(),
  });
  return (
    <main className={classes.page}>
      <form className={classes.form} onSubmit={form.onSubmit((values) => logIn.mutate(values))}>
        <h1 className="row">
          <Brand /> Log in to Foliot
        </h1>
        <TextInput label="Name" autoComplete="username" required autoFocus {...form.getInputProps("name")} />
        <PasswordInput label="Password" autoComplete="current-password" required {...form.getInputProps("password")} />
        <ErrorNote error={logIn.error} />
        <Button type="submit" variant="filled" loading={logIn.isPending}>
          Log in
        </Button>
        <p className="faint">
          An administrator adds users with <code>foliot user add</code>.
        </p>
      </form>
    </main>
  );
}
