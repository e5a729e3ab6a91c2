/**
 * How the console is built: into dist/console of the repository, from where the engine serves it.
 * Every file has its compressed forms beside it, so that no request waits for a compression.
 */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import type { Plugin } from 'vite';
import { defineConfig } from 'vite';

const OUT = join(import.meta.dirname, '..', 'dist', 'console');
/** Fonts are compressed already. */
const COMPRESSIBLE = /\.(?:html|js|css|svg)$/;

const compress: Plugin = {
  name: 'compress',
  apply: 'build',
  closeBundle() {
    for (const name of readdirSync(OUT, { recursive: true, encoding: 'utf8' })) {
      if (!COMPRESSIBLE.test(name)) continue;
      const octets = readFileSync(join(OUT, name));
      writeFileSync(join(OUT, `${name}.br`), brotliCompressSync(octets));
      writeFileSync(join(OUT, `${name}.gz`), gzipSync(octets, { level: 9 }));
    }
  },
};

export default defineConfig({
  root: import.meta.dirname,
  // Whatever path a proxy serves it under.
  base: './',
  // `npm start` prints what went wrong, and nothing else.
  logLevel: 'warn',
  plugins: [svelte(), compress],
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: 'es2022',
    // What is inlined is no file of its own, and the page's policy allows files only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { checks: { pluginTimings: false } },
  },
});
