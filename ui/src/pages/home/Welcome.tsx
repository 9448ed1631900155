import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useMe } from "@/access/useMe";
import { EmptyState } from "@/parts/EmptyState";

const EXAMPLE = `[[jobs]]
id = "hello"
command = "echo hello"
every = "10s"`;

/** Home of a server without jobs. */
export function Welcome() {
  const { may } = useMe();
  return (
    <EmptyState
      title="Make the first one"
      toml={EXAMPLE}
      command="foliot check foliot.toml"
      actions={
        may("edit") && (
          <>
            <Button variant="filled" renderRoot={(props) => <Link to="/new/job" {...props} />}>
              New job
            </Button>
            <Button renderRoot={(props) => <Link to="/import" {...props} />}>Paste a crontab</Button>
          </>
        )
      }
    >
      Write this into foliot.toml: it runs within ten seconds, and this page shows it.
    </EmptyState>
  );
}
