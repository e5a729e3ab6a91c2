/**
 * Webhooks of a whole engine that is killed: the events of a committed job are delivered, and the
 * receiver checks them as docs/guide/sending.md shows.
 */

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Test } from 'tap';
import t from 'tap';
import { post } from '../support/client.ts';
import { readText } from '../support/documents.ts';
import { until } from '../support/poll.ts';
import type { EngineProcess } from '../support/processes.ts';
import { startEngine } from '../support/processes.ts';
import { seedEmbedded } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { isSigned, startReceiver } from '../support/webhook-receiver.ts';

t.test('kill -9 between the end of a job and the answer of the receiver', async (t) => {
  const dataDir = temporaryDirectory(t);
  seedEmbedded(dataDir);
  const start = () => startEngine(t, dataDir, { WORKERS: '1', WEBHOOK_PRIVATE_ADDRESSES: '1' });
  const receiver = await startReceiver(t);
  let engine = await start();
  const { secret } = (await (await admin(engine, 'webhooks', { url: receiver.url })).json()) as {
    readonly secret: string;
  };
  const { appId, tagIds, apiUser } = engine.demo();
  await post(`${engine.baseUrl}/push-api/reg`, apiUser.token, {
    appId,
    platformId: 3,
    deviceId: 'ab'.repeat(32),
    tagId: tagIds[0],
  });

  // The request is under way when the engine dies.
  receiver.answer = () => null;
  const first = await push(engine);
  await until('the receiver is told', () => (receiver.heard.length > 0 ? true : null));
  await engine.end('SIGKILL');
  receiver.answer = () => 204;
  engine = await start();
  await until('it is told again', () => (receiver.heard.length > 1 ? true : null));
  const [before, after] = receiver.heard;
  t.equal(after?.id, before?.id);
  t.equal(after?.body, before?.body);
  const told = { type: 'job.finished', data: { jobId: first, state: 'FINISHED', successCount: 1 } };
  t.match(before?.events, [told]);

  // The job has just ended when the engine dies, and most often nothing is under way yet.
  const second = await push(engine);
  await engine.end('SIGKILL');
  engine = await start();
  await until('the second job is told', () =>
    receiver.events().some(({ data }) => data.jobId === second) ? true : null,
  );
  t.ok(receiver.heard.every((heard) => isSigned(heard, secret)));

  await t.test('checked as docs/guide/sending.md shows', async (t) => {
    const isGenuine = await shownCheck(t);
    const [heard] = receiver.heard.slice(-1);
    if (heard === undefined) throw new Error('nothing was heard');
    t.equal(isGenuine(secret, heard.headers, heard.body), true);
    t.equal(isGenuine(secret, heard.headers, `${heard.body} `), false);
    t.equal(isGenuine('whsec_AAAA', heard.headers, heard.body), false);
    t.equal(isGenuine(secret, heard.headers, heard.body, Date.now() + 600_000), false, 'too old');
  });
  await until('it is recorded', async () => {
    const deliveries = await admin(engine, 'webhooks/1/deliveries?state=delivered');
    return ((await deliveries.json()) as readonly unknown[]).length === 2 ? true : null;
  });
  const metrics = await (await fetch(`${engine.baseUrl}/metrics`)).text();
  t.match(metrics, /tagcast_webhook_deliveries_total\{outcome="delivered"\} [12]/);
  t.equal(await engine.end('SIGTERM'), 0);
});

const admin = (engine: EngineProcess, path: string, body?: unknown): Promise<Response> =>
  fetch(`${engine.baseUrl}/push-admin-api/v3/demo/${path}`, {
    headers: { Authorization: `Bearer ${engine.demo().superUser.token}` },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });

/** Resolves with the id of the job when it has ended. */
async function push(engine: EngineProcess): Promise<string> {
  const { tagIds, superUser } = engine.demo();
  const pushed = await post(`${engine.baseUrl}/push-api/push`, superUser.token, {
    tagIds: [tagIds[0]],
    payload: { title: 'goal!' },
  });
  const id = await pushed.text();
  await until('the job has ended', async () => {
    const status = await fetch(`${engine.baseUrl}/push-api/status/${id}`, {
      headers: { Authorization: `Bearer ${superUser.token}` },
    });
    const rows = (await status.json()) as readonly { readonly state: string }[];
    return rows.every(({ state }) => state === 'FINISHED') ? true : null;
  });
  return id;
}

type Check = (
  secret: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  nowMs?: number,
) => boolean;

async function shownCheck(t: Test): Promise<Check> {
  const document = readText('docs/guide/sending.md');
  const [, code = ''] = /## Be notified\n[\s\S]*?```js [^\n]*\n([\s\S]*?)```/.exec(document) ?? [];
  const directory = temporaryDirectory(t, { 'check.mjs': code });
  const url = pathToFileURL(join(directory, 'check.mjs')).href;
  const { isGenuine } = (await import(url)) as { readonly isGenuine: Check };
  return isGenuine;
}
