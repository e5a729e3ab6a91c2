/** `tagcast devices` as an operator runs it: real processes, killed in the middle. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import type { Test } from 'tap';
import { post } from '../support/client.ts';
import { until } from '../support/poll.ts';
import { MAIN, runCommand, startCommand, startEngine } from '../support/processes.ts';
import { runHere } from '../support/run-here.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const DEVICES = 10_000;
const PERMISSIONS = 0o777;
/**
 * Devices before it keep their tags. Which ones an import that was killed has got to is chance: it
 * has several lanes.
 */
const FIRST_TO_LEAVE = 8;

export async function devicesStory(
  t: Test,
  dataDir: string,
  store: Readonly<Record<string, string>>,
): Promise<void> {
  const engine = await startEngine(t, dataDir, store);
  const demo = engine.demo();
  const environment = { ...store, DATA_DIR: dataDir };
  const directory = temporaryDirectory(t);
  const file = join(directory, 'devices.ndjson');
  const state = `${file}.import-${demo.appId}.state`;
  const [sourceId = ''] = demo.tagSourceIds;
  const [tagId = 0] = demo.tagIds;
  const deviceId = (n: number): string => n.toString(16).padStart(64, '0');
  const tags = [{ sourceId }, { sourceId: 'new-one', name: 'New one' }];
  const registeredAt = '2026-01-02T03:04:05.000Z';
  const lines = Array.from({ length: DEVICES }, (_, n) =>
    JSON.stringify({ platformId: 3, deviceId: deviceId(n), registeredAt, tags }),
  );
  writeFileSync(file, `${lines.join('\n')}\n`);
  const importing = ['devices', 'import', String(demo.appId), file, '--create-tags'];

  const statistics = async (): Promise<{ readonly subscribers: number }> => {
    const response = await fetch(
      `${demo.baseUrl}/push-admin-api/v3/${demo.clientId}/stats/tag/${tagId}`,
      { headers: { authorization: `Bearer ${demo.superUser.token}` } },
    );
    return (await response.json()) as { readonly subscribers: number };
  };
  const subscribers = async (): Promise<number> => (await statistics()).subscribers;

  await t.test('killed twice, and begun again: nothing lost, nothing twice', async (t) => {
    for (let run = 1; run <= 2; run += 1) {
      const before = await subscribers();
      const killed = startCommand(t, importing, environment);
      await until(
        'more is imported',
        async () =>
          (await subscribers()) > before || killed.child.exitCode !== null ? true : null,
        120_000,
      );
      t.equal(await killed.end('SIGKILL'), 'SIGKILL', 'it was not done yet');
    }
    // Calls of an app between two runs of an import are newer than its file.
    const callApp = (endpoint: string, n: number) => {
      const body = { appId: demo.appId, platformId: 3, deviceId: deviceId(n), tagId };
      return post(`${demo.baseUrl}/push-api/${endpoint}`, demo.apiUser.token, body);
    };
    let imported = FIRST_TO_LEAVE;
    while ((await (await callApp('list', imported)).text()) === '[]') imported += 1;
    t.equal(await (await callApp('ureg', imported)).text(), 'OK');
    const { code, output } = await runCommand(t, importing, environment);
    t.equal(code, 0, output);
    t.match(output, /^10,000 records/m);
    t.notOk(existsSync(state), 'the state is gone');
    t.match(await statistics(), {
      subscribers: DEVICES - 1,
      daily: [{ subscribed: DEVICES, unsubscribed: 1 }],
    });
  });

  await t.test(
    'killed in the middle of an export, and begun again: the same devices',
    async (t) => {
      const output = join(directory, 'out.ndjson');
      const exporting = ['devices', 'export', String(demo.appId), '--output', output];
      const killed = startCommand(t, exporting, environment);
      await until(
        'something is exported',
        () => {
          const isBegun = existsSync(output) && statSync(output).size > 0;
          return isBegun || killed.child.exitCode !== null ? true : null;
        },
        60_000,
      );
      await killed.end('SIGKILL');
      if (existsSync(`${output}.export-state`)) {
        const { code, output: said } = await runCommand(t, exporting, environment);
        t.equal(code, 0, said);
      } else t.comment('it was done before it was killed');
      t.equal(statSync(output).mode & PERMISSIONS, 0o600, 'for its owner only');
      const exported = readFileSync(output, 'utf8').trimEnd().split('\n');
      const ids = exported.map((line) => JSON.parse(line).deviceId);
      t.same(
        ids.toSorted(),
        lines.map((_, n) => deviceId(n)),
      );
      t.match(JSON.parse(exported.find((line) => line.includes(deviceId(7))) ?? ''), {
        platformId: 3,
        registeredAt,
        tags: [{ sourceId }, { sourceId: 'new-one', name: 'New one' }],
      });
    },
  );

  await t.test('a pipe: CSV from one app to another', async (t) => {
    const added = await runHere(['app', 'add', demo.clientId, 'B', '--platform=3'], environment);
    const other = /App (\d+)/.exec(added.output)?.[1] ?? '';
    const env = { PATH: '/usr/bin:/bin', ...environment };
    const start = (args: readonly string[]) =>
      spawn(process.execPath, [MAIN, 'devices', ...args], { env });
    const from = start(['export', String(demo.appId), '--format', 'csv']);
    const to = start(['import', other, '-', '--format', 'csv']);
    t.teardown(() => [from, to].map((child) => child.kill('SIGKILL')));
    from.stdout.pipe(to.stdin);
    const [said, complaints, notes] = await Promise.all([
      text(to.stdout),
      text(to.stderr),
      buffer(from.stderr),
      once(to, 'exit'),
    ]);
    // Progress may be among them.
    t.notMatch(complaints, /Line|Tag/);
    t.match(said, /^10,000 records.*\n {2}10,000 added\n$/);
    t.match(notes.toString(), /^10,000 devices of app \d+\.$/m);
  });
  await engine.end('SIGTERM');
}
