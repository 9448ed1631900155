interface Payload {
  /** undefined: nothing was typed. */
  payload: unknown;
  problem: string | null;
}

/** Read parameters that a person typed as JSON. Pure. */
export function readPayload(text: string): Payload {
  if (text.trim() === "") return { payload: undefined, problem: null };
  try {
    return { payload: JSON.parse(text), problem: null };
  } catch (error) {
    return { payload: undefined, problem: `This is not JSON: ${error instanceof Error ? error.message : error}` };
  }
}
