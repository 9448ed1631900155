/** The base path of the server ("" or "/foliot"), which it writes into the page. */
export const basePath: string = readMeta("base-path");

/** The nonce of this page, for style elements. */
export const nonce: string = readMeta("csp-nonce");

function readMeta(name: string): string {
  if (typeof document === "undefined") return "";
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? "";
}
