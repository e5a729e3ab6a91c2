/**
 * An app that a client makes over HTTP, with a credential that it puts on one node: the next send
 * of the other node has it, and has it no more when it was taken away. No secret is in their logs.
 */

import { readFileSync } from 'node:fs';
import t from 'tap';
import type { ProviderAccounts } from '../../packages/simulator/src/accounts.ts';
import { post } from '../support/client.ts';
import { until } from '../support/poll.ts';
import { runCommand, startEngine, startSimulatorProcess } from '../support/processes.ts';
import { withPostgres } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** Sends after each change: any node may claim any of them. */
const PUSHES = 4;
const TOKEN = /Token {7}(\S+)/;

t.test('credentials of a new app, on two nodes', async (t) => {
  await withPostgres(t, async (t, url) => {
    const simulator = await startSimulatorProcess(t);
    const accounts = JSON.parse(readFileSync(simulator.accountsFile, 'utf8')) as ProviderAccounts;
    const environment = {
      ...simulator.environment,
      DATABASE_URL: url,
      SECRET_KEY: 'a secret of this test, long enough',
      DEMO: '0',
      WORKERS: '1',
      LOG_LEVEL: 'debug',
    };
    const { output } = await runCommand(t, ['client', 'add', 'acme'], environment);
    const superToken = TOKEN.exec(output)?.[1] ?? '';
    const nodes = [
      await startEngine(t, temporaryDirectory(t), environment),
      await startEngine(t, temporaryDirectory(t), environment),
    ] as const;
    const root = `${nodes[0].baseUrl}/push-admin-api/v3/acme`;
    const ask = async (method: string, path: string, body?: unknown) => {
      const answer = await fetch(`${root}/${path}`, {
        method,
        headers: { Authorization: `Bearer ${superToken}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      return { status: answer.status, text, body: text === '' ? null : JSON.parse(text) };
    };
    const app = (await ask('POST', 'apps', { name: 'News', platformIds: [3] })).body;
    const tag = (await ask('POST', 'tags', { name: 'Goals' })).body;
    const device = { appId: app.id, platformId: 3, deviceId: 'ab'.repeat(32), tagId: tag.id };
    const registered = await post(`${nodes[1].baseUrl}/push-api/reg`, app.apiUser.token, device);
    t.equal(await registered.text(), 'OK');
    t.equal(registered.headers.get('tagcast-ignored'), null);

    /** The end of a push that the other node has accepted. */
    const pushed = async () => {
      const { baseUrl } = nodes[1];
      const push = { tagIds: [tag.id], payload: { title: 'goal!' } };
      const job = await (await post(`${baseUrl}/push-api/push`, superToken, push)).text();
      return until('it has ended', async () => {
        const headers = { Authorization: `Bearer ${superToken}` };
        const answer = await fetch(`${baseUrl}/push-api/status/${job}`, { headers });
        const [row] = (await answer.json()) as readonly { readonly state: string }[];
        return row?.state === 'FINISHED' || row?.state === 'FAILED' ? row : null;
      });
    };
    const path = `apps/${app.id}/platforms/3`;
    const faulty = { state: 'FAILED', totalCount: 1, failureReasons: { MissingCredential: 1 } };
    t.match(await pushed(), faulty, 'without a credential');

    const credential = { ...accounts.apns, environment: 'production' };
    const put = await ask('PUT', path, credential);
    t.match(put, { status: 200, body: { check: { ok: true } } });
    for (let n = 0; n < PUSHES; n += 1) {
      t.match(await pushed(), { state: 'FINISHED', totalCount: 1, successCount: 1 }, 'at once');
    }
    t.equal((await ask('DELETE', path)).status, 204);
    for (let n = 0; n < PUSHES; n += 1) t.match(await pushed(), faulty, 'taken away');

    const wrong = { ...credential, privateKey: credential.privateKey.replace('-----END', '-') };
    const refused = await ask('PUT', path, wrong);
    t.equal(refused.status, 400);
    const [, secret = 'none'] = credential.privateKey.split('\n');
    const told = [put.text, refused.text, ...nodes.map((node) => node.output())].join('\n');
    t.notOk(told.includes(secret), 'in no answer and in no log');
    t.notOk(nodes.some((node) => node.output().includes(app.apiUser.token)));
    for (const node of nodes) t.equal(await node.end('SIGTERM'), 0);
  });
});
