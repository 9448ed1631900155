import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { api } from "@/api/client";
import { useAction } from "@/api/mutations";
import { server } from "@/api/queries";
import type { Dsn } from "@/api/types.gen";
import { useList } from "@/api/useList";
import { Confirm } from "@/parts/Confirm";
import { EmptyState } from "@/parts/EmptyState";
import { ErrorNote } from "@/parts/ErrorNote";
import { Section } from "@/parts/Section";
import { type Column, Table } from "@/parts/Table";
import { RelativeTime } from "@/parts/times";
import classes from "./Settings.module.css";

const EXAMPLE = '[[jobs]]\nid = "mail-customers"\nkind = "fanout"\ninputs_from = "sql://shop?SELECT id FROM customers"';

/** Addresses of databases that fanouts read. They are encrypted, and never shown. */
export function Dsns() {
  const list = useList(server.dsns());
  const form = useForm({ initialValues: { name: "", dsn: "" } });
  const store = useAction({
    send: ({ name, dsn }: { name: string; dsn: string }) =>
      api.put("/api/dsns/{name}", { path: { name }, body: { dsn } }),
    changes: ["dsns"],
    done: (stored) => (stored.is_new ? `${stored.name} was stored.` : `${stored.name} was replaced.`),
    isQuiet: true,
    onSuccess: () => form.reset(),
  });
  const remove = useAction({
    send: (name: string) => api.delete("/api/dsns/{name}", { path: { name } }),
    changes: ["dsns"],
    done: (_, name) => `${name} was removed.`,
  });
  const columns: Column<Dsn>[] = [
    { key: "name", title: "Name", render: (dsn) => <span className="mono">{dsn.name}</span> },
    { key: "engine", title: "Engine", width: "140px", render: (dsn) => dsn.engine },
    { key: "updated", title: "Stored", width: "140px", render: (dsn) => <RelativeTime at={dsn.updated_at} /> },
    {
      key: "actions",
      title: "",
      width: "100px",
      align: "right",
      render: (dsn) => (
        <Confirm
          target={(open) => <Button onClick={open}>Remove</Button>}
          title={`Remove ${dsn.name}?`}
          text="Fanouts that read it fail from now on."
          action="Remove"
          isDangerous
          onConfirm={() => remove.mutate(dsn.name)}
        />
      ),
    },
  ];
  return (
    <>
      <Section title="Store an address" plain>
        <form className={classes.form} onSubmit={form.onSubmit((values) => store.mutate(values))}>
          <TextInput label="Name" placeholder="shop" required {...form.getInputProps("name")} />
          <PasswordInput
            label="Address"
            placeholder="postgresql://reader@db.example/shop"
            required
            autoComplete="off"
            w={360}
            {...form.getInputProps("dsn")}
          />
          <Button type="submit" variant="filled" loading={store.isPending}>
            Store
          </Button>
          <ErrorNote error={store.error} />
        </form>
      </Section>
      <Section title="Databases" note={list.items.length}>
        <Table
          label="Databases"
          columns={columns}
          rows={list.items}
          rowKey={(dsn) => dsn.name}
          list={list}
          empty={
            <EmptyState title="No databases yet" toml={EXAMPLE} command="foliot dsn add shop < dsn.txt">
              A fanout can read its items with a query. The address is stored here once, encrypted.
            </EmptyState>
          }
        />
      </Section>
    </>
  );
}
