import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { gzip } from "./vite/gzip.ts";

const server = process.env.FOLIOT_URL ?? "http://127.0.0.1:7070";

export default defineConfig({
  // Every address of an asset is relative. The server writes the base path into the meta element base-path of index.html.
  base: "./",
  plugins: [react(), gzip()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    outDir: process.env.FOLIOT_UI_OUT ?? fileURLToPath(new URL("../src/foliot/interfaces/web/assets", import.meta.url)),
    emptyOutDir: true,
    cssTarget: ["chrome123", "edge123", "firefox120", "safari17.5"],
    target: ["chrome123", "edge123", "firefox120", "safari17.5"],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  worker: { format: "es" },
  server: {
    host: "127.0.0.1",
    proxy: { "/api": { target: server, changeOrigin: false }, "/healthz": server, "/readyz": server },
  },
  test: { environment: "happy-dom", globals: false, restoreMocks: true },
});
