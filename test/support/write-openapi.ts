/**
 * Writes the OpenAPI document as an engine of this build serves it:
 *
 *     npm run openapi     # dist/openapi.json
 */

import { writeFile } from 'node:fs/promises';
import { OPERATOR_TOKEN } from './people.ts';
import { startEngine } from './processes.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const [path = 'dist/openapi.json'] = process.argv.slice(2);

const ends: (() => unknown)[] = [];
const lifetime = { teardown: (end: () => unknown) => void ends.unshift(end) };
try {
  const engine = await startEngine(lifetime, temporaryDirectory(lifetime), {
    WORKERS: '1',
    OPERATOR_TOKEN,
  });
  const answer = await fetch(`${engine.baseUrl}/openapi.json`);
  if (answer.status !== 200) throw new Error(`The engine answered ${answer.status}.`);
  await writeFile(path, `${JSON.stringify(await answer.json(), null, 2)}\n`);
  await engine.end('SIGTERM');
} finally {
  for (const end of ends) await end();
}
