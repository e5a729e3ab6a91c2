/**
 * With PostgreSQL an engine writes below DATA_DIR and nowhere else, and starts no other program:
 * Node.js' permissions forbid it the rest, as a container's read-only root file system does. They
 * hold threads too, but for one that is started with flags of its own (execArgv): ours have none.
 */

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import t from 'tap';
import { until } from '../support/poll.ts';
import { startEngine } from '../support/processes.ts';
import { withPostgres } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** `--permission` since Node 22.13. */
const PERMISSION = process.allowedNodeEnvironmentFlags.has('--permission')
  ? '--permission'
  : '--experimental-permission';
const flagsFor = (dataDir: string): readonly string[] => {
  const flags = [PERMISSION, '--allow-fs-read=*', `--allow-fs-write=${dataDir}/*`];
  const isNetAsked = process.allowedNodeEnvironmentFlags.has('--allow-net');
  return [...flags, '--allow-worker', ...(isNetAsked ? ['--allow-net'] : [])];
};

t.setTimeout(240_000);

await withPostgres(t, async (t, databaseUrl) => {
  const dataDir = temporaryDirectory(t);
  const elsewhere = temporaryDirectory(t);
  const nodeFlags = flagsFor(dataDir);

  await t.test('the permissions forbid what they are to forbid', (t) => {
    const script = `require('node:fs').writeFileSync('${elsewhere}/file', '')`;
    const thread = `const { Worker } = require('node:worker_threads');
      new Worker(${JSON.stringify(script)}, { eval: true, execArgv: undefined, resourceLimits: {} })`;
    for (const [place, code] of [
      ['the main thread', script],
      ['a thread', thread],
    ] as const) {
      const { status, stderr } = spawnSync(process.execPath, [...nodeFlags, '--eval', code]);
      t.not(status, 0, place);
      t.match(stderr.toString(), /ERR_ACCESS_DENIED/, place);
    }
    t.same(readdirSync(elsewhere), []);
    t.end();
  });

  await t.test('a push goes out under them, and the engine drains', async (t) => {
    const settings = {
      DATABASE_URL: databaseUrl,
      SECRET_KEY: 'a secret of the tests, long enough',
      DEMO: '1',
      WORKERS: '1',
    };
    const engine = await startEngine(t, dataDir, settings, { nodeFlags });
    const { apiUser, superUser, appId, tagIds } = engine.demo();
    const ask = async (path: string, token: string, body?: object): Promise<string> => {
      const headers = { Authorization: `Bearer ${token}` };
      const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
      return (await fetch(`${engine.baseUrl}/push-api/${path}`, { headers, ...init })).text();
    };
    const device = { appId, platformId: 3, tagId: [tagIds[0]], deviceId: 'ab'.repeat(32) };
    t.equal(await ask('reg', apiUser.token, device), 'OK');
    const push = { tagIds: [tagIds[0]], payload: { title: 'goal!' } };
    const job = await ask('push', superUser.token, push);
    const [ios] = await until('the push has ended', async () => {
      const rows = JSON.parse(await ask(`status/${job}`, superUser.token)) as { state: string }[];
      return rows.every(({ state }) => state === 'FINISHED') ? rows : null;
    });
    t.match(ios, { totalCount: 1, successCount: 1 });
    t.notMatch(engine.output(), /ERR_ACCESS_DENIED/);
    t.equal(await engine.end('SIGTERM'), 0);
    t.same(readdirSync(dataDir), ['demo.json'], 'that is all that it has left');
  });
});
