/**
 * Loads packages that only the bench compares with. They are installed in bench/peers, where no
 * build looks.
 */

import { createRequire } from 'node:module';
import { join } from 'node:path';

/** From dist/bench/clients back to the root of the repository. */
const PEERS = join(import.meta.dirname, '..', '..', '..', 'bench', 'peers', 'package.json');

/**
 * A package by its name; of another package's dependencies when `by` is given. What it exports is
 * the caller's to know.
 */
export function loadPeer(name: string, by?: string): unknown {
  const require = createRequire(PEERS);
  return (by === undefined ? require : createRequire(require.resolve(by)))(name);
}
