import { Button } from "@mantine/core";
import { asApiError } from "@/api/error";
import { Note } from "./Note";

/** What went wrong and what to do: message, hint, all problems, request id. */
export function ErrorNote({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  if (!error) return null;
  const { message, hint, field, problems, requestId, status } = asApiError(error);
  // With a list of problems the message repeats all of them: its first line is enough.
  const title = problems.length > 0 ? message.split("\n", 1)[0]?.replace(/:$/, "") : message;
  return (
    <Note hue="bad" role="alert">
      <b>{field && problems.length === 0 ? `${nameOf(field)}: ${title}` : title}</b>
      {problems.length > 0 && (
        <ul>
          {problems.map((one) => (
            <li key={`${one.field}${one.message}`}>
              {one.field && <code>{nameOf(one.field)}</code>} {one.message}. {one.hint}
            </li>
          ))}
        </ul>
      )}
      {hint && <div>{hint}</div>}
      {status >= 500 && requestId && <div className="faint">request {requestId}</div>}
      {onRetry && (
        <Button size="compact-xs" mt={6} display="block" onClick={onRetry}>
          Try again
        </Button>
      )}
    </Note>
  );
}

/** "$.cron" of a document is its key "cron". */
const nameOf = (field: string): string => field.replace(/^\$\./, "");
