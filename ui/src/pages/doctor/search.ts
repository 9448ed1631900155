/** The search params of this page, see shell/search.ts. */
export type DoctorSearch = Record<never, never>;

export function validateDoctorSearch(_search: Record<string, unknown>): DoctorSearch {
  return {};
}
