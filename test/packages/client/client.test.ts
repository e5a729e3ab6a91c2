/** The client package on a scripted server: its requests, and its results from the answers. */

import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import t from 'tap';
import { ProblemError, TagcastClient } from '../../../packages/client/src/client.ts';
import { until } from '../../support/poll.ts';

interface Told {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Answers one after the other; the last one from then on. */
async function startServer(t: Test, answers: readonly Told[]) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      asked.push({ method, url, headers, body: Buffer.concat(pieces).toString() });
      const told = answers[Math.min(asked.length, answers.length) - 1];
      if (told === undefined) return;
      const type = told.status < 400 ? 'application/json' : 'application/problem+json';
      response.writeHead(told.status, { 'Content-Type': type, ...told.headers });
      response.end(typeof told.body === 'string' ? told.body : JSON.stringify(told.body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { asked, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const problem = (
  status: number,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
) => ({
  status,
  headers,
  body: { type: 'about:blank', title: 'Title', status, detail, requestId: 'request-1' },
});
const ACCEPTED = { status: 202, body: { id: 'job-1', state: 'QUEUED', unknownTags: [] } };
const NOTIFICATIONS = '/push-api/v3/{client}/notifications';
const PUSH = { tagIds: [1], payload: { title: 'Hello' } } as const;

t.test('a request is what the document says', async (t) => {
  const { asked, baseUrl } = await startServer(t, [ACCEPTED, { status: 200, body: {} }]);
  const client = new TagcastClient({ baseUrl: `${baseUrl}/`, token: 'tcs_1', client: 'acme' });
  const answer = await client.request('POST', NOTIFICATIONS, { body: PUSH });
  t.match(answer, { status: 202, body: ACCEPTED.body });
  // A compiled program reads the id only where the status says that there is one.
  t.equal(answer.status === 202 ? answer.body.id : null, 'job-1');
  await client.request('GET', '/push-admin-api/tag/sourceId/{value}/{client}', {
    path: { value: 'a/b ü', client: 'other' },
  });
  await client.request('GET', '/push-admin-api/v3/{client}/tags', {
    query: { q: 'a&b', limit: 2 },
  });
  t.match(asked, [
    {
      method: 'POST',
      url: '/push-api/v3/acme/notifications',
      headers: { authorization: 'Bearer tcs_1', 'content-type': 'application/json' },
      body: JSON.stringify(PUSH),
    },
    { method: 'GET', url: '/push-admin-api/tag/sourceId/a%2Fb%20%C3%BC/other', body: '' },
    { method: 'GET', url: '/push-admin-api/v3/acme/tags?q=a%26b&limit=2' },
  ]);
});

t.test('what the document does not have does not compile', async (t) => {
  const { baseUrl } = await startServer(t, [{ status: 200, body: {} }]);
  const client = new TagcastClient({ baseUrl, client: 'acme' });
  // @ts-expect-error: a push is submitted, not read
  await client.request('GET', '/push-api/push');
  // @ts-expect-error: a misspelt field
  await client.request('POST', NOTIFICATIONS, { body: { tagIdz: [1], payload: {} } });
  // @ts-expect-error: an unknown parameter
  await client.request('GET', '/push-admin-api/v3/{client}/tags', { query: { name: 'a' } });
  // @ts-expect-error: without the id
  await t.rejects(client.request('GET', '/push-api/status/{id}'), /needs id/);
  // @ts-expect-error: no list
  const rows = client.rows('/livez');
  await t.rejects(rows.next());
});

t.test('a refusal is a ProblemError with all that is wrong', async (t) => {
  const errors = [{ path: 'payload.badge', message: 'must be 0 or more.' }];
  const refusal = problem(400, 'The request is not valid.');
  const { baseUrl } = await startServer(t, [
    { ...refusal, body: { ...refusal.body, errors } },
    { status: 502, headers: { 'Content-Type': 'text/html' }, body: '<h1>Bad Gateway</h1>' },
  ]);
  const client = new TagcastClient({ baseUrl, client: 'acme' });
  const error = await client
    .request('POST', NOTIFICATIONS, { body: PUSH })
    .catch((e: unknown) => e);
  t.ok(error instanceof ProblemError);
  t.match(error, { status: 400, problem: { errors, requestId: 'request-1' } });
  t.match((error as Error).message, 'payload.badge: must be 0 or more.');
  const page = await client.request('GET', '/livez').catch((e: unknown) => e);
  t.match(page, { status: 502, problem: { detail: '<h1>Bad Gateway</h1>' } }, "a proxy's page");
});

t.test('what is refused for the moment is sent again, with the same key', async (t) => {
  const later = { 'Retry-After': '0' };
  const { asked, baseUrl } = await startServer(t, [
    problem(503, 'Try again.', later),
    problem(429, 'Too many.', later),
    ACCEPTED,
  ]);
  const client = new TagcastClient({ baseUrl, client: 'acme' });
  t.equal((await client.request('POST', NOTIFICATIONS, { body: PUSH })).status, 202);
  const keys = asked.map(({ headers }) => headers['idempotency-key']);
  t.equal(keys.length, 3);
  t.match(keys[0], /^[0-9a-f]{32}$/);
  t.equal(new Set(keys).size, 1, 'one key for one call');
  await client.request('POST', NOTIFICATIONS, { body: PUSH });
  t.not(asked.at(-1)?.headers['idempotency-key'], keys[0], 'another for another');
  const headers = { 'Idempotency-Key': 'goal-1' };
  await client.request('POST', NOTIFICATIONS, { body: PUSH, headers });
  t.equal(asked.at(-1)?.headers['idempotency-key'], 'goal-1', 'or the one that is given');
});

t.test('it is sent again as often, and waited for as long, as the limits say', async (t) => {
  const soon = await startServer(t, [problem(503, 'Try again.', { 'Retry-After': '0' })]);
  const client = new TagcastClient({ baseUrl: soon.baseUrl });
  await t.rejects(client.request('GET', '/livez'), { message: /^503 / });
  t.equal(soon.asked.length, 4);

  const late = await startServer(t, [problem(429, 'Later.', { 'Retry-After': '31' })]);
  const other = new TagcastClient({ baseUrl: late.baseUrl });
  await t.rejects(other.request('GET', '/livez'), { message: /^429 / });
  t.equal(late.asked.length, 1, "a longer pause is the caller's to wait for");

  const wrong = await startServer(t, [problem(500, 'Failed.'), ACCEPTED]);
  await t.rejects(new TagcastClient({ baseUrl: wrong.baseUrl }).request('GET', '/livez'));
  t.equal(wrong.asked.length, 1, 'another refusal is final');
});

t.test(
  'a signal ends a request and a pause; an answer that does not come is not waited for',
  async (t) => {
    const { asked, baseUrl } = await startServer(t, [
      problem(503, 'Try again.', { 'Retry-After': '20' }),
    ]);
    const client = new TagcastClient({ baseUrl });
    const ending = new AbortController();
    const asking = client.request('GET', '/livez', { signal: ending.signal });
    await until('it was asked', () => (asked.length === 1 ? true : null));
    ending.abort(new Error('enough'));
    await t.rejects(asking, /enough/);
    t.equal(asked.length, 1);

    const silent = await startServer(t, []);
    const patient = new TagcastClient({ baseUrl: silent.baseUrl, timeoutMs: 50 });
    await t.rejects(patient.request('GET', '/livez'), { name: 'TimeoutError' });
  },
);

t.test('a list is read row by row, a page at a time', async (t) => {
  const next = '</push-admin-api/v3/acme/tags?limit=2&q=a&cursor=2>; rel="next"';
  const { asked, baseUrl } = await startServer(t, [
    {
      status: 200,
      headers: { Link: next },
      body: [
        { id: 1, name: 'a' },
        { id: 2, name: 'b' },
      ],
    },
    { status: 200, body: [{ id: 3, name: 'c' }] },
  ]);
  const client = new TagcastClient({ baseUrl, client: 'acme' });
  const query = { q: 'a', limit: 2 };
  const rows = client.rows('/push-admin-api/v3/{client}/tags', { query });
  const names: string[] = [(await rows.next()).value?.name ?? ''];
  t.equal(asked.length, 1, 'the second page waits for who reads on');
  for await (const { name } of rows) names.push(name);
  t.same(names, ['a', 'b', 'c']);
  t.same(
    asked.map(({ url }) => url),
    [
      '/push-admin-api/v3/acme/tags?limit=2&q=a',
      '/push-admin-api/v3/acme/tags?limit=2&q=a&cursor=2',
    ],
  );
});
