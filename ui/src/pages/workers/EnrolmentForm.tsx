import { Button, TagsInput, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { basePath } from "@/api/base";
import { api } from "@/api/client";
import { useAction } from "@/api/mutations";
import type { NewEnrolment } from "@/api/types.gen";
import { ErrorNote } from "@/parts/ErrorNote";
import classes from "./Workers.module.css";

export function EnrolmentForm({ onCreated }: { onCreated: (enrolment: NewEnrolment) => void }) {
  const form = useForm({ initialValues: { name: "", labels: [] as string[] } });
  const register = useAction({
    send: (values: { name: string; labels: string[] }) =>
      api.post("/api/enrolments", { body: { ...values, server: window.location.origin + basePath } }),
    changes: ["enrolments"],
    isQuiet: true,
    onSuccess: (created) => {
      form.reset();
      onCreated(created);
    },
  });
  return (
    <form className={classes.form} onSubmit={form.onSubmit((values) => register.mutate(values))}>
      <TextInput label="Name" placeholder="gpu-1" required {...form.getInputProps("name")} />
      <TagsInput label="Labels" placeholder="gpu, then Enter" w={260} {...form.getInputProps("labels")} />
      <Button type="submit" variant="filled" loading={register.isPending}>
        Register worker
      </Button>
      <ErrorNote error={register.error} />
    </form>
  );
}
