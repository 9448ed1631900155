import { Button } from "@mantine/core";
import { ErrorNote } from "@/parts/ErrorNote";
import { Note } from "@/parts/Note";

/** What browsers and Vite say when the code of a page cannot be fetched. */
const NOT_LOADED = /preload CSS|dynamically imported module|module script/i;

/** Shown in the place of a page that failed. */
export function PageError({ error, reset }: { error: unknown; reset: () => void }) {
  if (!(error instanceof Error) || !NOT_LOADED.test(error.message)) return <ErrorNote error={error} onRetry={reset} />;
  return (
    <Note hue="bad" role="alert">
      <b>this page could not be loaded</b>
      <div>The server does not answer, or it was upgraded meanwhile.</div>
      <Button size="compact-xs" mt={6} display="block" onClick={() => window.location.reload()}>
        Load it again
      </Button>
    </Note>
  );
}
