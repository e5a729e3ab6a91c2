/** The operator's commands through an engine elsewhere, by its URL and token. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { addTenant } from '../support/api.ts';
import { OPERATOR_TOKEN } from '../support/route-fuzz/valid.ts';
import { runHere } from '../support/run-here.ts';
import { nextSlug, sharedService } from '../support/shared-service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

t.test('commands ask an engine by its URL', async (t) => {
  const { engine, store } = await sharedService();
  const DATA_DIR = temporaryDirectory(t);
  const environment = { DATA_DIR, OPERATOR_URL: `${engine.url}/`, OPERATOR_TOKEN };
  const run = (line: string, more = {}) => runHere(line.split(' '), { ...environment, ...more });
  const slug = nextSlug();

  t.match(await run(`client add ${slug}`), { code: 0, output: /^Client .*tcs_/s });
  const [entry] = await store.sql`
    select address, request_id from audit_entries
    where action = 'client.create' and object_name = ${slug}`;
  t.match(entry, { address: '127.0.0.1', request_id: /./ }, 'the audit log knows from where');
  t.match(await run('client list'), { code: 0, output: new RegExp(`^${slug}\t${slug}$`, 'm') });
  t.match(await run(`client add ${slug}`), {
    code: 1,
    errors: `Client ${slug} exists already.\n`,
  });
  t.match(await run(`member invite ${slug} --role owner`), { code: 0, output: /tcl_\w+$/m });

  const { appId } = await addTenant(store.sql, nextSlug());
  const path = join(DATA_DIR, 'devices.ndjson');
  writeFileSync(path, '{"platformId":15,"deviceId":"a","tags":["x"]}\n');
  t.match(await run(`devices import ${appId} ${path} --create-tags`), { code: 0 });
  const copy = join(DATA_DIR, 'copy.ndjson');
  t.match(await run(`devices export ${appId} --output ${copy}`), { code: 0 });
  t.match(JSON.parse(readFileSync(copy, 'utf8')), { deviceId: 'a', tags: [{ sourceId: 'x' }] });

  t.match(await run('client list', { OPERATOR_TOKEN: `${OPERATOR_TOKEN}x` }), {
    code: 1,
    errors: /credential/i,
  });
  t.match(await run('client list', { OPERATOR_URL: 'http://127.0.0.1:2' }), {
    code: 1,
    errors: 'The engine at http://127.0.0.1:2 did not answer: ECONNREFUSED.\n',
  });
  t.match(await runHere(['client', 'list'], { DATA_DIR, OPERATOR_URL: engine.url }), {
    code: 1,
    errors: /^OPERATOR_URL: needs OPERATOR_TOKEN/,
  });
});
