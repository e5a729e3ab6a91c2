/** The types of the client package are those of the document that an engine serves. */

import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { startEngine } from '../support/processes.ts';
import { seedEmbedded } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const PACKAGE = join(import.meta.dirname, '..', '..', '..', 'packages', 'client');

interface Package {
  readonly scripts: { readonly types: string };
}

t.test('src/openapi.ts is what `npm run client:types` makes', async (t) => {
  const command = join(PACKAGE, 'node_modules', '.bin', 'openapi-typescript');
  if (!existsSync(command)) throw new Error('Run: node src/prepare.mjs test packages/client');
  const dataDir = temporaryDirectory(t);
  seedEmbedded(dataDir);
  const engine = await startEngine(t, dataDir, { WORKERS: '1' });
  const document = await (await fetch(`${engine.baseUrl}/openapi.json`)).text();
  t.equal(await engine.end('SIGTERM'), 0);

  const folder = temporaryDirectory(t, { 'openapi.json': document });
  const made = join(folder, 'openapi.ts');
  const { scripts } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as Package;
  const [, , , , ...options] = scripts.types.split(' ');
  await promisify(execFile)(command, [join(folder, 'openapi.json'), '--output', made, ...options]);
  const committed = readFileSync(join(PACKAGE, 'src', 'openapi.ts'), 'utf8');
  t.equal(committed, readFileSync(made, 'utf8'), 'run `npm run client:types`, and commit');
});
