/** The binary of this Node.js: which it is, and that a reason is given where there is none. */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { loadUws } from '../../../packages/http1-uws/src/load-uws.ts';
import { ROOT } from '../../support/documents.ts';
import { onUws } from '../../support/fronts.ts';

const { test } = await onUws(t);
const DECISION = 'docs/decisions/0067-the-front-on-uwebsockets-js.md';
const [MAJOR = ''] = process.versions.node.split('.');

test('the binary is the one that the decision names', (t, { version }) => {
  const file = `node_modules/@uwsjs/linux-x64-${MAJOR}/uws.node`;
  const sum = createHash('sha256')
    .update(readFileSync(join(ROOT, file)))
    .digest('hex');
  const row = `| ${MAJOR} | ${version} | \`${sum}\` |`;
  t.ok(readFileSync(join(ROOT, DECISION), 'utf8').includes(row), row);
  t.end();
});

test('it is loaded once', async (t, binary) => {
  t.same(await loadUws(), { ok: true, binary });
});

t.test('a thread is refused, with the reason', async (t) => {
  const module = new URL('../../../packages/http1-uws/src/load-uws.js', import.meta.url);
  const code = `import('${module}').then(async ({ loadUws }) =>
    require('node:worker_threads').parentPort.postMessage(await loadUws()))`;
  const worker = new Worker(code, { eval: true });
  t.teardown(() => worker.terminate());
  const loaded = await new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  t.same(loaded, { ok: false, reason: 'uWebSockets.js runs in the main thread only' });
});

t.test('the package and the service name the same binaries', (t) => {
  const read = (file: string) =>
    (
      JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as {
        readonly optionalDependencies: Readonly<Record<string, string>>;
      }
    ).optionalDependencies;
  t.same(read('packages/http1-uws/package.json'), read('package.json'));
  t.end();
});
