/** Builds the page into the Python package, each text file with a compressed twin beside it. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** The service puts a new one in each answer: see src/warmfront/api/site.py. */
const NONCE = "__CSP_NONCE__";
const SITE = "../src/warmfront/api/site";

/** KaTeX offers each font in three formats; every browser that runs this page reads the first. */
function onlyWoff2(): Plugin {
  return {
    name: "only-woff2",
    enforce: "pre",
    transform(code, id) {
      if (!id.includes("katex") || !id.includes(".css")) return null;
      return code.replaceAll(/,\s*url\([^)]*\.(woff|ttf)\)\s*format\("[a-z]+"\)/g, "");
    },
  };
}

/** Compressed once here, not at every request. */
function compressed(): Plugin {
  let folder = "";
  return {
    name: "compressed",
    apply: "build",
    configResolved(config) {
      folder = resolve(config.root, config.build.outDir, "assets");
    },
    closeBundle() {
      for (const name of readdirSync(folder)) {
        if (!/\.(js|css)$/.test(name)) continue;
        const path = join(folder, name);
        writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
      }
    },
  };
}

export default defineConfig({
  plugins: [onlyWoff2(), react(), compressed()],
  html: { cspNonce: NONCE },
  build: {
    outDir: SITE,
    emptyOutDir: true,
    assetsInlineLimit: 0, // the policy allows no data: address
    target: "es2022",
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 800,
  },
  server: { proxy: { "/api": "http://127.0.0.1:3000" } },
  // They are pure functions: one process does for all of them.
  test: { include: ["src/**/*.test.ts"], pool: "threads", isolate: false },
});
