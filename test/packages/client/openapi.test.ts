/** The types of the client package are those of the document that an engine serves. */

import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { makeDocument } from '../../../src/api/openapi/document.ts';
import { sharedService } from '../../support/shared-service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const PACKAGE = join(import.meta.dirname, '..', '..', '..', '..', 'packages', 'client');

interface Package {
  readonly scripts: { readonly types: string };
}

t.test('src/openapi.ts is what `npm run client:types` makes', async (t) => {
  const command = join(PACKAGE, 'node_modules', '.bin', 'openapi-typescript');
  if (!existsSync(command)) throw new Error('Run: node src/app/prepare.mjs test packages/client');
  const { engine } = await sharedService();
  const document = JSON.stringify(makeDocument(engine.routes));

  const folder = temporaryDirectory(t, { 'openapi.json': document });
  const made = join(folder, 'openapi.ts');
  const { scripts } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as Package;
  const [, , , , ...options] = scripts.types.split(' ');
  await promisify(execFile)(command, [join(folder, 'openapi.json'), '--output', made, ...options]);
  const committed = readFileSync(join(PACKAGE, 'src', 'openapi.ts'), 'utf8');
  t.equal(committed, readFileSync(made, 'utf8'), 'run `npm run client:types`, and commit');
});
