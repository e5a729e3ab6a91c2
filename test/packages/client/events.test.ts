/** The client package hears the events of a push job: on a server with a scripted stream. */

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import t from 'tap';
import { TagcastClient } from '../../../packages/client/src/client.ts';
import { until } from '../../support/poll.ts';

type Play = (response: ServerResponse) => void;

/** Each request is answered by the next of the plays; the last one stays. */
async function startServer(t: Test, plays: readonly Play[]) {
  const asked: ServerResponse[] = [];
  const server = createServer((_, response) => {
    asked.push(response);
    plays[Math.min(asked.length, plays.length) - 1]?.(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { asked, baseUrl, client: new TagcastClient({ baseUrl, client: 'acme' }) };
}

const EVENTS = '/push-api/v3/{client}/notifications/{id}/events';
const JOB = { path: { id: 'job-1' } } as const;
const AGAIN_AT_ONCE = 'retry: 1\n\n';

const progress = (state: string): string => `event: progress\ndata: {"state":"${state}"}\n\n`;
const END = 'event: end\ndata: {"state":"FINISHED"}\n\n';

const open: Play = (response) => {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  response.flushHeaders();
};
const tell =
  (...texts: readonly (string | Uint8Array)[]): Play =>
  (response) => {
    open(response);
    for (const text of texts) response.write(text);
  };
const breakOff: Play = (response) => {
  tell(progress('RUNNING'))(response);
  setTimeout(() => response.destroy(), 10);
};
const refuse =
  (status: number): Play =>
  (response) => {
    response.writeHead(status, {
      'Content-Type': 'application/problem+json',
      'Retry-After': '0',
    });
    response.end(`{"type":"about:blank","title":"Title","status":${status},"detail":"No."}`);
  };

async function hear(client: TagcastClient, signal?: AbortSignal): Promise<readonly string[]> {
  const states: string[] = [];
  const request = signal === undefined ? JOB : { ...JOB, signal };
  for await (const { state } of client.events(EVENTS, request)) states.push(state);
  return states;
}

t.test('each progress is told until the end, however the text is cut', async (t) => {
  const text = Buffer.from(
    `:\n\nretry: 5\n\n${progress('RUNNING – ü')}:\n\nevent: other\ndata: no JSON\n\n`,
  );
  const pieces = [...text].map((octet) => Uint8Array.of(octet));
  const crlf = `${progress('PAUSED')}${progress('FINISHED')}${END}`.replaceAll('\n', '\r\n');
  const { asked, client } = await startServer(t, [
    // The answer is not ended: the event ends it.
    tell(...pieces, crlf, progress('FAILED')),
  ]);
  t.same(await hear(client), ['RUNNING – ü', 'PAUSED', 'FINISHED']);
  t.equal(asked.length, 1);
  t.match(asked[0]?.req, { method: 'GET', url: '/push-api/v3/acme/notifications/job-1/events' });
  await until('the connection is given back', () => asked[0]?.destroyed || null);
});

t.test('who leaves the loop leaves the stream', async (t) => {
  const { asked, client } = await startServer(t, [tell(progress('RUNNING'))]);
  for await (const { state } of client.events(EVENTS, JOB)) {
    t.equal(state, 'RUNNING');
    break;
  }
  await until('the connection is given back', () => asked[0]?.destroyed || null);
});

t.test('a stream that breaks off is asked for again', async (t) => {
  const endWhole: Play = (response) => {
    tell(AGAIN_AT_ONCE, progress('QUEUED'))(response);
    response.end();
  };
  const { asked, client } = await startServer(t, [
    endWhole,
    ...Array.from({ length: 6 }, () => breakOff),
    refuse(503),
    tell(progress('FINISHED'), END),
  ]);
  const running = Array.from({ length: 6 }, () => 'RUNNING');
  t.same(await hear(client), ['QUEUED', ...running, 'FINISHED']);
  t.equal(asked.length, 9);
});

t.test('one that tells nothing any more is given up', async (t) => {
  const { asked, client } = await startServer(t, [
    (response) => {
      tell(AGAIN_AT_ONCE)(response);
      response.end();
    },
  ]);
  await t.rejects(hear(client), /broke off/);
  t.equal(asked.length, 4);
});

t.test('a silent one is taken as broken', async (t) => {
  const { asked, baseUrl } = await startServer(t, [
    tell(AGAIN_AT_ONCE, progress('RUNNING')),
    (response) => {
      // Longer than a silence may be, but never silent for so long.
      tell(AGAIN_AT_ONCE)(response);
      let beats = 0;
      const timer = setInterval(() => {
        beats += 1;
        response.write(beats < 20 ? ':\n\n' : `${progress('FINISHED')}${END}`);
        if (beats === 20) clearInterval(timer);
      }, 50);
    },
  ]);
  const client = new TagcastClient({ baseUrl, client: 'acme', timeoutMs: 500 });
  t.same(await hear(client), ['RUNNING', 'FINISHED']);
  t.equal(asked.length, 2);
});

t.test('a refusal and a signal are final', async (t) => {
  const gone = await startServer(t, [tell(progress('RUNNING')), refuse(404)]);
  await t.rejects(
    async () => {
      for await (const _ of gone.client.events(EVENTS, JOB)) gone.asked[0]?.destroy();
    },
    { message: /^404 / },
  );
  t.equal(gone.asked.length, 2);

  const { asked, client } = await startServer(t, [tell(AGAIN_AT_ONCE)]);
  const ending = new AbortController();
  const hearing = hear(client, ending.signal);
  await until('it was asked', () => (asked.length === 1 ? true : null));
  ending.abort(new Error('enough'));
  await t.rejects(hearing, /enough/);
  t.equal(asked.length, 1);
});

t.test('a stream is no answer to wait for', async (t) => {
  const { client } = await startServer(t, [refuse(404)]);
  // @ts-expect-error: its events are heard one by one
  await t.rejects(client.request('GET', EVENTS, JOB));
  // @ts-expect-error: this one has no events
  await t.rejects(client.events('/livez').next());
});
