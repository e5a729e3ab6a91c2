/** How node is started, for a test file and for what it starts of the product. */

export const NODE_FLAGS: readonly string[] = [
  '--enable-source-maps',
  // PGlite is compiled anew in each process, mostly to be used for seconds: opening it takes half the CPU so.
  '--liftoff-only',
];
