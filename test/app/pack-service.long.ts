/** The service that `pack:service` makes: `node` alone starts it, in a folder with nothing else. */

import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { finalStatus, push } from '../support/client.ts';
import { ROOT } from '../support/documents.ts';
import { startEngine } from '../support/processes.ts';
import { runProgram } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const SCRIPT = join(ROOT, 'src', 'app', 'pack-service.mjs');
const DEVICES = 100;

t.setTimeout(300_000);

t.test('the tarball, unpacked elsewhere', async (t) => {
  const directory = temporaryDirectory(t);
  const packed = await runProgram(t, process.execPath, [SCRIPT], { cwd: directory });
  t.match(packed, { code: 0, err: '' });
  const tarball = packed.out.toString().trim();
  t.match(tarball, /\/tagcast-\d+\.\d+\.\d+\.tar\.gz$/);
  t.equal((await runProgram(t, 'tar', ['-xzf', tarball, '-C', directory])).code, 0);
  const folder = join(directory, 'tagcast');
  for (const left of ['node_modules/typescript', 'node_modules/@types', 'dist/test', 'src/app']) {
    t.notOk(existsSync(join(folder, left)), `${left} stays behind`);
  }
  const unit = readFileSync(join(folder, 'config', 'tagcast.service'), 'utf8');
  const [, main = ''] = /^ExecStart=.+ \/opt\/tagcast\/(\S+)$/m.exec(unit) ?? [];

  // Without a PATH there is no npm, and no other program of the machine.
  const environment = { PATH: '', DEMO_DEVICES: String(DEVICES) };
  const how = { main: join(folder, main) };
  const engine = await startEngine(t, temporaryDirectory(t), environment, how);
  for (const page of ['/readyz', '/console/', '/docs/quick-start', '/docs/api', '/openapi.json']) {
    const answer = await fetch(engine.baseUrl + page);
    t.equal(answer.status, 200, page);
    await answer.arrayBuffer();
  }
  const demo = engine.demo();
  const template = `push-admin-api/v3/demo/apps/${demo.appId}/platforms/3/template`;
  const put = await fetch(`${engine.baseUrl}/${template}`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${demo.superUser.token}` },
    body: JSON.stringify({ expression: '{ "title": title & "!" }', sample: { title: 'goal' } }),
  });
  t.equal(put.status, 200, 'templates are evaluated');
  await put.text();
  const job = await push(engine.baseUrl, demo, demo.tagIds.slice(0, 1));
  const rows = await finalStatus(engine.baseUrl, demo, job);
  t.equal(
    rows.reduce((sum, { successCount }) => sum + successCount, 0),
    DEVICES,
    'a push arrives',
  );
  t.equal(await engine.end('SIGTERM'), 0);
});

t.test('a folder that is there already is left as it is', async (t) => {
  const folder = join(temporaryDirectory(t), 'tagcast');
  mkdirSync(folder);
  t.match(await runProgram(t, process.execPath, [SCRIPT, folder]), {
    code: 1,
    err: `${folder} is there already: name a new one.\n`,
  });
  t.notOk(existsSync(join(folder, 'package.json')));
});
