/**
 * The first step of `npm pack` in the folder of a package: compiles it with the compiler that is
 * installed in the root of the repository. Plain JavaScript: in a fresh clone nothing is compiled.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MODULES = join(dirname(fileURLToPath(import.meta.url)), '..', 'node_modules');
const COMPILER = join(MODULES, '.bin', 'tsc');

if (!existsSync(COMPILER)) {
  process.stderr.write(
    'Nothing is packed: the compiler is not installed. Run `npm ci` in the root of the repository, then `npm pack` here again.\n',
  );
  process.exit(1);
}
rmSync('dist', { recursive: true, force: true });
const { status } = spawnSync(COMPILER, ['-p', '.'], { stdio: 'inherit' });
process.exit(status ?? 1);
