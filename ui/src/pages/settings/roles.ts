/** The roles of people and programs, from the least to the most. */
export const ROLES = [
  { value: "viewer", label: "viewer: read" },
  { value: "operator", label: "operator: start, cancel, pause, approve" },
  { value: "editor", label: "editor: change jobs, which run code" },
  { value: "admin", label: "admin: everything" },
];
