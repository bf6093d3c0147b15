/** Build the page into the Python package, with a gzipped copy of each script and style sheet. */
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** Placeholder that the service replaces by a new nonce in each response: see src/warmfront/api/web_page.py. */
const NONCE = "__CSP_NONCE__";
const SITE = "../src/warmfront/api/site";

/** Drop the WOFF and TTF variants of KaTeX's fonts; every supported browser reads WOFF2. */
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

/** Compress at build time, not per request. */
function precompress(): Plugin {
  let folder = "";
  return {
    name: "precompress",
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

/** Ship the license of the typeface with it, as the license requires. */
function licenses(): Plugin {
  let site = "";
  return {
    name: "licenses",
    apply: "build",
    configResolved(config) {
      site = resolve(config.root, config.build.outDir);
    },
    closeBundle() {
      copyFileSync("node_modules/@fontsource-variable/inter/LICENSE", join(site, "inter-license.txt"));
    },
  };
}

export default defineConfig({
  plugins: [onlyWoff2(), react(), precompress(), licenses()],
  html: { cspNonce: NONCE },
  build: {
    outDir: SITE,
    emptyOutDir: true,
    assetsInlineLimit: 0, // the Content Security Policy forbids data: URLs
    target: "es2022",
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 800,
  },
  server: { proxy: { "/api": "http://127.0.0.1:3000" } },
  // The tests are of pure functions, so one process can run all of them.
  test: { include: ["src/**/*.test.ts"], pool: "threads", isolate: false },
});
