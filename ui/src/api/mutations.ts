import { useMutation, useQueryClient } from "@tanstack/react-query";
import { asApiError } from "./error";
import { notify } from "./notify";
import type { Resource } from "./queries";

interface Options<Given, Answer> {
  /** What is sent: `({ id }) => api.post("/api/runs/{run_id}/cancel", { path: { run_id: id } })`. */
  send: (given: Given) => Promise<Answer>;
  /** The resources that it changes, which are read again. */
  changes: readonly Resource[];
  /** What the message says when it is done. None: no message. */
  done?: (answer: Answer, given: Given) => string;
  onSuccess?: (answer: Answer, given: Given) => void;
  /** True: the caller shows the error itself, as forms do. */
  isQuiet?: boolean;
}

/** A change: `const cancel = useAction({...}); cancel.mutate({ id })`. Errors are shown as a message with their hint. */
export function useAction<Given, Answer>({ send, changes, done, onSuccess, isQuiet = false }: Options<Given, Answer>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: send,
    onSuccess: (answer, given) => {
      if (done) void notify({ message: done(answer, given) });
      onSuccess?.(answer, given);
    },
    onError: (problem) => {
      const error = asApiError(problem);
      if (!isQuiet) void notify({ title: error.message, message: error.hint, isError: true });
    },
    onSettled: () => Promise.all(changes.map((resource) => client.invalidateQueries({ queryKey: [resource] }))),
  });
}
