/** How node is started, for a test file and for what it starts of the product. */

import { pathToFileURL } from 'node:url';

const SOURCE_MAPS = pathToFileURL(`${import.meta.dirname}/source-maps.js`).href;

export const NODE_FLAGS: readonly string[] = [
  // In place of --enable-source-maps.
  `--import=${SOURCE_MAPS}`,
  // PGlite is compiled anew in each process, mostly to be used for seconds. Only what is called a
  // thousand times as often as V8 waits for is worth its optimising compiler: half the CPU of
  // opening it, and long tests still get that compiler.
  '--wasm-tiering-budget=2000000000',
];
