import { Tabs } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMe } from "@/access/useMe";
import { Note } from "@/parts/Note";
import { PageTitle } from "@/parts/PageTitle";
import { Dsns } from "./Dsns";
import { TABS, type Tab } from "./search";
import { Tokens } from "./Tokens";
import { Users } from "./Users";

const WORDS: Record<Tab, string> = { tokens: "Tokens", users: "Users", dsns: "Databases" };

/** Who may use this server, and the databases that fanouts read. */
export function SettingsPage() {
  const { may, isDevelopment } = useMe();
  const { tab = "tokens" } = useSearch({ from: "/settings" });
  const navigate = useNavigate({ from: "/settings" });
  if (!may("administer")) {
    return (
      <>
        <PageTitle title="Settings" />
        <Note>Only administrators see and change tokens, users and databases.</Note>
      </>
    );
  }
  return (
    <>
      <PageTitle title="Settings" sub="The rest is in the section [server] of the configuration file." />
      {isDevelopment && (
        <Note hue="look">
          This server accepts everything from this machine without credentials. As soon as there is a token or a user,
          it asks for them.
        </Note>
      )}
      <Tabs
        mt={12}
        value={tab}
        onChange={(next) => navigate({ search: (old) => ({ ...old, tab: next as Tab }), replace: true })}
        keepMounted={false}
      >
        <Tabs.List>
          {TABS.map((one) => (
            <Tabs.Tab key={one} value={one}>
              {WORDS[one]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="tokens">
          <Tokens />
        </Tabs.Panel>
        <Tabs.Panel value="users">
          <Users />
        </Tabs.Panel>
        <Tabs.Panel value="dsns">
          <Dsns />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}
