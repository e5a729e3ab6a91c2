/**
 * A right that was taken away is refused within a second on every node, however often it is used:
 * two engines on one PostgreSQL.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import t from 'tap';
import type { EngineProcess } from '../support/processes.ts';
import { runCommand, startEngine } from '../support/processes.ts';
import { runHere } from '../support/run-here.ts';
import { withPostgres } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** internals/interface.md, "Callers". */
const REFUSED_WITHIN_MS = 1_000;
/** Between two uses of a credential that is used all the time. */
const USED_EVERY_MS = 50;
const TOKEN = /Token {7}(\S+)/;
const ENDPOINT = '/push-admin-api/endpoints/get';

t.test('a credential in use, rotated and disabled', async (t) => {
  await withPostgres(t, async (t, url) => {
    const environment = {
      DATABASE_URL: url,
      SECRET_KEY: 'a secret of this test, long enough',
      DEMO: '0',
      WORKERS: '1',
      TRUSTED_PROXIES: '127.0.0.1',
    };
    const command = async (...args: string[]): Promise<string> => {
      const { code, output } = await runHere(args, environment);
      if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${output}`);
      return output;
    };
    const added = await runCommand(t, ['client', 'add', 'acme'], environment);
    const superToken = tokenIn(added.output);
    const first = await startEngine(t, temporaryDirectory(t), environment);
    const second = await startEngine(t, temporaryDirectory(t), environment);
    const nodes = [first, second];

    await t.test('rotated by its super user on one node, without grace', async (t) => {
      const use = await useOnAll(t, nodes, superToken);
      const answer = await fetch(
        `${first.baseUrl}/push-admin-api/v3/acme/credentials/super-user/rotate`,
        {
          method: 'POST',
          headers: { Authorization: `Bearer ${superToken}` },
          body: JSON.stringify({ graceHours: 0 }),
        },
      );
      t.equal(answer.status, 200);
      const { token } = (await answer.json()) as { readonly token: string };
      await use.refusedFromNowOn(401);
      t.same(await askAll(nodes, token), [200, 200], 'the new one works on both at once');
    });

    await t.test('a further key that is deleted', async (t) => {
      const shown = tokenIn(await command('credential', 'show', 'acme'));
      const keys = `${first.baseUrl}/push-admin-api/v3/acme/keys`;
      const headers = { Authorization: `Bearer ${shown}` };
      const body = JSON.stringify({ name: 'CMS', scopes: ['read'] });
      const made = await fetch(keys, { method: 'POST', headers, body });
      const { id, token } = (await made.json()) as { readonly id: number; readonly token: string };
      const use = await useOnAll(t, nodes, token);
      t.equal((await fetch(`${keys}/${id}`, { method: 'DELETE', headers })).status, 204);
      await use.refusedFromNowOn(401);
    });

    await t.test('rotated by the operator, with and without grace', async (t) => {
      const before = tokenIn(await command('credential', 'rotate', 'acme', '--grace-hours', '0'));
      const use = await useOnAll(t, nodes, before);
      await command('credential', 'rotate', 'acme', '--grace-hours', '1');
      await sleep(REFUSED_WITHIN_MS);
      t.same(await askAll(nodes, before), [200, 200], 'in its grace');
      await command('credential', 'rotate', 'acme', '--grace-hours', '0');
      await use.refusedFromNowOn(401);
    });

    await t.test('of a client that is disabled, and enabled again', async (t) => {
      const token = tokenIn(await command('credential', 'show', 'acme'));
      const use = await useOnAll(t, nodes, token);
      await command('client', 'disable', 'acme');
      await use.refusedFromNowOn(403);
      await command('client', 'enable', 'acme');
      await sleep(REFUSED_WITHIN_MS);
      t.same(await askAll(nodes, token), [200, 200]);
    });

    await t.test('a limit that is set holds on every node', async (t) => {
      const token = tokenIn(await command('credential', 'show', 'acme'));
      const use = await useOnAll(t, nodes, token);
      await command('client', 'limits', 'acme', '--requests-per-second', '1');
      await sleep(REFUSED_WITHIN_MS);
      for (const node of nodes) {
        const answers = [await ask(node, token), await ask(node, token)];
        t.ok(answers.includes(429), `${answers}: not two of them in a second`);
      }
      await use.end();
    });
    for (const node of nodes) t.equal(await node.end('SIGTERM'), 0);
  });
});

const tokenIn = (output: string): string => TOKEN.exec(output)?.[1] ?? '';

const ask = async ({ baseUrl }: EngineProcess, token: string): Promise<number> => {
  // An address for each credential: many wrong ones from one address would be 429.
  const address = `10.${token.charCodeAt(5)}.${token.charCodeAt(6)}.${token.charCodeAt(7)}`;
  const headers = { Authorization: `Bearer ${token}`, 'X-Forwarded-For': address };
  const answer = await fetch(baseUrl + ENDPOINT, { headers });
  await answer.arrayBuffer();
  return answer.status;
};

const askAll = (nodes: readonly EngineProcess[], token: string): Promise<readonly number[]> =>
  Promise.all(nodes.map((node) => ask(node, token)));

/** Uses a credential on every node all the time, so that none has a reason to forget it. */
async function useOnAll(t: Test, nodes: readonly EngineProcess[], token: string) {
  t.same(new Set(await askAll(nodes, token)), new Set([200]), 'it works');
  let isUsed = true;
  const users = nodes.map(async (node) => {
    while (isUsed) {
      await ask(node, token);
      await sleep(USED_EVERY_MS);
    }
  });
  const end = async (): Promise<void> => {
    isUsed = false;
    await Promise.all(users);
  };
  return {
    async refusedFromNowOn(status: number): Promise<void> {
      await sleep(REFUSED_WITHIN_MS);
      t.same(new Set(await askAll(nodes, token)), new Set([status]), 'refused on every node');
      await end();
    },
    end,
  };
}
