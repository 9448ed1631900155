import { Button, Checkbox } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "@/api/client";
import { useAction } from "@/api/mutations";
import type { DefinitionView } from "@/api/types.gen";
import { CodeEditor } from "@/editor/CodeEditor";
import { ErrorNote } from "@/parts/ErrorNote";
import { Note } from "@/parts/Note";
import { counted } from "@/time/format";
import { Definitions } from "./Definitions";
import classes from "./Toml.module.css";

interface Props {
  text: string;
  /** What is edited: saving is refused if it was changed meanwhile. */
  edited?: { id: string; revision: number };
}

/** Definitions as TOML. The server checks the text while it is written, and says what saving it would change. */
export function TomlEditor({ text: initial, edited }: Props) {
  const [text, setText] = useState(initial);
  const [isPaused, setPaused] = useState(false);
  const [settled] = useDebouncedValue(text, 250);
  const navigate = useNavigate();
  const check = useQuery({
    queryKey: ["check", settled],
    queryFn: ({ signal }) => api.post("/api/definitions/check", { body: { toml: settled }, signal }),
    placeholderData: (previous) => previous,
    staleTime: 60_000,
    gcTime: 60_000,
  });
  const save = useAction({
    send: (toml: string) =>
      api.post("/api/definitions", {
        body: { toml, pause_new: isPaused, ...(edited ? { expected: { [edited.id]: edited.revision } } : {}) },
      }),
    changes: ["jobs", "schedules", "workflows", "chains", "chain-classes"],
    isQuiet: true,
    done: (applied) => `${counted(applied.definitions.length, "definition")} saved.`,
    onSuccess: (applied) => openFirst(applied.definitions),
  });
  const openFirst = ([first]: readonly DefinitionView[]) => {
    if (first?.kind === "workflow") {
      void navigate({ to: "/workflows/$workflowId", params: { workflowId: first.id } });
    } else if (first?.kind === "chain") {
      void navigate({ to: "/chain-classes/$classId", params: { classId: first.id } });
    } else if (first) void navigate({ to: "/jobs/$jobId", params: { jobId: first.id } });
  };
  const found = check.data;
  const owned = found?.definitions.find((one) => one.action === "refused");
  const isNew = found?.definitions.some((one) => one.action === "created") ?? false;
  const isReadOnly = owned !== undefined && edited !== undefined;
  const mayClick = found?.is_valid === true && settled === text && owned === undefined;
  return (
    <div className={classes.columns}>
      <div>
        {owned && (
          <div className={classes.owned}>
            <Note hue="look">
              {owned.id} is defined in {owned.place ?? "an application"}. Change it there; here it can only be read.
            </Note>
          </div>
        )}
        <CodeEditor
          label="Definitions as TOML"
          text={initial}
          onChange={setText}
          problems={found?.problems ?? []}
          isReadOnly={isReadOnly}
        />
        <ErrorNote error={save.error} />
        {!isReadOnly && (
          <div className={classes.foot}>
            <Button variant="filled" disabled={!mayClick} loading={save.isPending} onClick={() => save.mutate(text)}>
              Save
            </Button>
            {isNew && (
              <Checkbox
                label="Begin paused"
                checked={isPaused}
                onChange={(event) => setPaused(event.currentTarget.checked)}
              />
            )}
          </div>
        )}
      </div>
      <aside className={classes.side} aria-label="What the text defines">
        <ErrorNote error={check.error} />
        {found && <Definitions found={found} />}
      </aside>
    </div>
  );
}
