import { ActionIcon, Menu } from "@mantine/core";
import { IconUser } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useMe } from "@/access/useMe";
import { api } from "@/api/client";

/** Who is logged in, and the way out. */
export function Account() {
  const { me } = useMe();
  const client = useQueryClient();
  if (!me || me.kind === "development") return null;
  const logOut = async () => {
    await api.post("/api/logout").catch(() => undefined);
    await client.resetQueries();
  };
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon aria-label={`Account of ${me.name}`}>
          <IconUser size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {me.name} · {me.role ?? me.scopes.join(", ")}
        </Menu.Label>
        {me.kind === "user" && <Menu.Item onClick={() => void logOut()}>Log out</Menu.Item>}
      </Menu.Dropdown>
    </Menu>
  );
}
