import { Button } from "@mantine/core";
import { useMe } from "@/access/useMe";
import { api } from "@/api/client";
import { useAction } from "@/api/mutations";
import { server } from "@/api/queries";
import type { UserView } from "@/api/types.gen";
import { useList } from "@/api/useList";
import { Confirm } from "@/parts/Confirm";
import { EmptyState } from "@/parts/EmptyState";
import { Section } from "@/parts/Section";
import { type Column, Table } from "@/parts/Table";
import { RelativeTime } from "@/parts/times";
import { PasswordForm } from "./PasswordForm";
import { UserForm } from "./UserForm";

/** People who log in with a password. */
export function Users() {
  const { me } = useMe();
  const list = useList(server.users());
  const remove = useAction({
    send: (name: string) => api.delete("/api/users/{name}", { path: { name } }),
    changes: ["users", "me"],
    done: (_, name) => `${name} was removed and is logged out.`,
  });
  const columns: Column<UserView>[] = [
    { key: "name", title: "Name", render: (user) => (user.name === me?.name ? <b>{user.name} (you)</b> : user.name) },
    { key: "role", title: "Role", width: "120px", render: (user) => user.role },
    { key: "created", title: "Added", width: "220px", isWide: true, render: (user) => <Added user={user} /> },
    {
      key: "actions",
      title: "",
      width: "230px",
      align: "right",
      render: (user) => (
        <span className="row" style={{ justifyContent: "flex-end" }}>
          <PasswordForm name={user.name} />
          <Confirm
            target={(open) => <Button onClick={open}>Remove</Button>}
            title={`Remove ${user.name}?`}
            text="All sessions of this user end at once."
            action="Remove"
            isDangerous
            onConfirm={() => remove.mutate(user.name)}
          />
        </span>
      ),
    },
  ];
  return (
    <>
      <Section title="New user" plain>
        <UserForm />
      </Section>
      <Section title="Users" note={list.items.length}>
        <Table
          label="Users"
          columns={columns}
          rows={list.items}
          rowKey={(user) => user.name}
          list={list}
          empty={
            <EmptyState title="No users yet" command="foliot user add anna --role admin">
              Add yourself as an administrator first: this page then asks for your password.
            </EmptyState>
          }
        />
      </Section>
    </>
  );
}

const Added = ({ user }: { user: UserView }) => (
  <span className="clip">
    <RelativeTime at={user.created_at} /> <span className="faint">by {user.created_by}</span>
  </span>
);
