import type { ErrorDetail, ProblemBody } from "./types.gen";

/** An answer that is an error, or no answer (status 0). */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string;
  readonly field: string;
  readonly requestId: string;
  readonly position: number | undefined;
  readonly problems: ProblemBody[];

  constructor(status: number, detail: Partial<ErrorDetail> & { message: string }) {
    super(detail.message);
    this.name = "ApiError";
    this.status = status;
    this.code = detail.code ?? "error";
    this.hint = detail.hint ?? "";
    this.field = detail.field ?? "";
    this.requestId = detail.request_id ?? "";
    this.position = detail.position;
    this.problems = detail.problems ?? [];
  }
}

/** Return any thrown value as an ApiError. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(0, { code: "internal", message: error instanceof Error ? error.message : String(error) });
}

/** Return the error of an answer that is not a success. */
export async function errorOf(answer: Response): Promise<ApiError> {
  const text = await answer.text().catch(() => "");
  try {
    const detail = (JSON.parse(text) as { error?: ErrorDetail }).error;
    if (detail?.message) return new ApiError(answer.status, detail);
  } catch {
    // Not JSON: a proxy answered.
  }
  return new ApiError(answer.status, {
    code: "not_json",
    message: `the answer is ${answer.status} and not from Foliot`,
    hint: "A proxy between this page and the server may have answered. Look into its log.",
  });
}

export function unreachable(): ApiError {
  return new ApiError(0, {
    code: "unreachable",
    message: "the server does not answer",
    hint: "Check that foliot serve is running. This page continues when it answers again.",
  });
}
