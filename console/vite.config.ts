/**
 * How the console is built, and the guides beside it: into dist/console and dist/guides of the
 * repository, from where the engine serves them. Every file has its compressed forms beside it, so that no request waits for a compression.
 */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import type { Plugin } from 'vite';
import { defineConfig } from 'vite';
import { buildGuides } from './guides/build.ts';

const DIST = join(import.meta.dirname, '..', 'dist');
const OUT = join(DIST, 'console');
const GUIDES = join(DIST, 'guides');
/** Fonts are compressed already. */
const COMPRESSIBLE = /\.(?:html|js|css|svg)$/;

function compress(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!COMPRESSIBLE.test(name)) continue;
    const octets = readFileSync(join(folder, name));
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(octets));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(octets, { level: 9 }));
  }
}

const complete: Plugin = {
  name: 'complete',
  apply: 'build',
  closeBundle() {
    buildGuides(import.meta.dirname, GUIDES);
    for (const folder of [OUT, GUIDES]) compress(folder);
  },
};

export default defineConfig({
  root: import.meta.dirname,
  // Whatever path a proxy serves it under.
  base: './',
  // `npm start` prints what went wrong, and nothing else.
  logLevel: 'warn',
  plugins: [svelte(), complete],
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
