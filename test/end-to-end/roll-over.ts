/**
 * A season rolls over: the members of a tag are moved to another one by an engine that is killed in
 * the middle, while its apps register and it sends.
 */

import type { Test } from 'tap';
import { finalStatus, post, push } from '../support/client.ts';
import { until } from '../support/poll.ts';
import type { EngineProcess } from '../support/processes.ts';
import { startEngine } from '../support/processes.ts';

/** Ten pieces. */
const DEVICES = 1_000;
const PATIENCE_MS = 120_000;

interface Operation {
  readonly id: number;
  readonly state: string;
  readonly total: number;
  readonly done: number;
  readonly changed: number;
}

export async function rollOver(
  t: Test,
  dataDir: string,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  let engine: EngineProcess = await startEngine(t, dataDir, environment);
  const { appId, tagIds, superUser, apiUser } = engine.demo();
  const [old = 0, fresh = 0] = tagIds;
  const admin = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await fetch(`${engine.baseUrl}/push-admin-api/v3/demo/${path}`, {
      method,
      headers: { Authorization: `Bearer ${superUser.token}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as T;
  };
  const register = async (n: number, tagId: number): Promise<void> => {
    const answer = await post(`${engine.baseUrl}/push-api/reg`, apiUser.token, {
      appId,
      platformId: 3,
      deviceId: n.toString(16).padStart(64, '0'),
      tagId,
    });
    t.equal(`${answer.status} ${await answer.text()}`, '200 OK');
  };
  for (let n = 0; n < DEVICES; n += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, at) => register(n + at, old)));
  }
  const asked = await admin<Operation>('POST', `tags/${old}/members`, {
    action: 'move',
    toTagId: fresh,
  });
  t.match(asked, { state: 'QUEUED', total: DEVICES });
  const read = () => admin<Operation>('GET', `operations/${asked.id}`);
  const some = await until('some are moved', async () => {
    const operation = await read();
    return operation.done > 0 ? operation : null;
  });
  t.equal(await engine.end('SIGKILL'), 'SIGKILL');
  t.ok(some.done < DEVICES, `killed after ${some.done}`);

  engine = await startEngine(t, dataDir, environment);
  let registered = DEVICES;
  const ended = await until(
    'all are moved',
    async () => {
      const operation = await read();
      t.ok(operation.changed >= some.changed, 'what was done is not done again');
      await register(registered, fresh);
      registered += 1;
      return operation.state === 'FINISHED' ? operation : null;
    },
    PATIENCE_MS,
  );
  t.match(ended, { total: DEVICES, done: DEVICES, changed: DEVICES });
  const subscribers = async (tagId: number) =>
    (await admin<{ readonly subscribers: number }>('GET', `stats/tag/${tagId}`)).subscribers;
  t.equal(await subscribers(old), 0);
  t.equal(await subscribers(fresh), registered);
  const job = await push(engine.baseUrl, engine.demo(), [fresh]);
  const rows = await finalStatus(engine.baseUrl, engine.demo(), job);
  t.match(
    rows.filter(({ totalCount }) => totalCount > 0),
    [{ state: 'FINISHED', totalCount: registered, successCount: registered }],
    'a push reaches each of them once',
  );
  t.equal(await engine.end('SIGTERM'), 0);
}
