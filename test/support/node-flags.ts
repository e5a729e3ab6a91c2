/**
 * How node is started, for a test file and for what it starts of the product. Source maps are left
 * out: the runner names the lines of sources where a test fails (`runner/source-places.ts`).
 */

export const NODE_FLAGS: readonly string[] = [
  // PGlite is compiled again in each process, mostly to be used for seconds. Only code that is
  // called a thousand times as often as V8 waits for is worth its optimising compiler: half the CPU
  // of opening it, and long tests still get that compiler.
  '--wasm-tiering-budget=2000000000',
];
