/** Read parameters as people type them. Pure. */
export function readParams(text: string): { params?: Record<string, unknown>; problem?: string } {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return { params: value as Record<string, unknown> };
    return { problem: 'Write an object: {"day": "2026-10-22"}' };
  } catch (error) {
    return { problem: error instanceof Error ? `This is not JSON: ${error.message}` : "This is not JSON." };
  }
}
