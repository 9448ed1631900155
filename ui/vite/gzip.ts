import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

const COMPRESSED = /\.(js|css|svg|json)$/;
const SMALLEST = 1_024;

/** Writes a .gz file beside each asset that becomes smaller. */
export function gzip(): Plugin {
  let folder = "";
  return {
    name: "gzip",
    apply: "build",
    configResolved: (config) => {
      folder = config.build.outDir;
    },
    closeBundle: () => {
      for (const file of files(folder)) {
        const content = readFileSync(file);
        if (COMPRESSED.test(file) && content.length >= SMALLEST) {
          writeFileSync(`${file}.gz`, gzipSync(content, { level: constants.Z_BEST_COMPRESSION }));
        }
      }
    },
  };
}

function files(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? files(path) : [path];
  });
}
