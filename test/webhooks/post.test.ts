/** One request to a receiver: where it may go, and what its end is called. */

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import type { Test } from 'tap';
import t from 'tap';
import { createCertificate } from '../../packages/simulator/src/server/certificate.ts';
import type { PostOptions } from '../../src/webhooks/post.ts';
import { post } from '../../src/webhooks/post.ts';
import { closeWith } from '../support/close-with.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

const BODY = '{"data":{"events":[]}}';
const never = new AbortController().signal;

const send = (url: string, options: Partial<PostOptions> = {}) =>
  post(new URL(url), { 'webhook-id': 'one' }, BODY, {
    isPrivateAllowed: true,
    resolve: () => Promise.reject(new Error('nothing is looked up')),
    signal: never,
    ...options,
  });

/** The same place under a name. */
const named = (url: string): string => url.replace('127.0.0.1', 'hook.example');

t.test('over HTTP and HTTPS; the certificate is checked', async (t) => {
  const plain = await startReceiver(t);
  t.same(await send(plain.url), { kind: 'answered', status: 204, retryAfter: null });
  t.match(plain.heard, [{ body: BODY, path: '/hook', headers: { 'webhook-id': 'one' } }]);
  const { certificatePem, privateKeyPem } = await createCertificate('hook.example');
  const secure = await startReceiver(t, { cert: certificatePem, key: privateKeyPem });
  t.same(await send(secure.url, { ca: certificatePem }), {
    kind: 'answered',
    status: 204,
    retryAfter: null,
  });
  t.match(await send(secure.url), { kind: 'failed', fault: /SELF_SIGNED_CERT|UNABLE_TO_VERIFY/ });
  t.equal(secure.heard.length, 1);
});

t.test('a redirect is an answer, and nobody goes there', async (t) => {
  const target = await startReceiver(t);
  const receiver = await startReceiver(t);
  receiver.answer = (_, response) => {
    response.setHeader('Location', target.url);
    return 307;
  };
  t.same(await send(receiver.url), { kind: 'answered', status: 307, retryAfter: null });
  t.equal(target.heard.length, 0);
});

t.test('only to public addresses, whatever a name means at the moment', async (t) => {
  const receiver = await startReceiver(t);
  const refused = { kind: 'failed', fault: /no address in the public internet/ };
  t.match(await send(receiver.url, { isPrivateAllowed: false }), refused, 'an address');
  for (const address of ['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1', '::ffff:127.0.0.1']) {
    const options = { isPrivateAllowed: false, resolve: () => Promise.resolve([address]) };
    t.match(await send(named(receiver.url), options), refused, address);
  }
  t.equal(receiver.heard.length, 0);
});

t.test('one sentence for names that exist within and names that do not', async (t) => {
  const url = 'https://hook.example/';
  const privately = { isPrivateAllowed: false };
  const within = await send(url, { ...privately, resolve: () => Promise.resolve(['10.0.0.1']) });
  for (const code of ['ENOTFOUND', 'ESERVFAIL', 'ETIMEOUT', 'ENODATA']) {
    const error = Object.assign(new Error(`query ${code}`), { code });
    const resolve = () => Promise.reject(error);
    t.same(await send(url, { ...privately, resolve }), within, code);
  }
});

t.test('the address that was checked is the one that is connected to', async (t) => {
  const receiver = await startReceiver(t);
  const asked: string[] = [];
  // A name whose servers give another answer each time.
  const resolve = (hostname: string) => {
    asked.push(hostname);
    return Promise.resolve([asked.length === 1 ? '127.0.0.1' : '192.0.2.1']);
  };
  t.same(await send(named(receiver.url), { resolve }), {
    kind: 'answered',
    status: 204,
    retryAfter: null,
  });
  t.same(asked, ['hook.example'], 'it is looked up once');
  t.match(receiver.heard[0]?.headers, { host: new URL(named(receiver.url)).host });
});

t.test('a receiver that does not answer, or not as it should', async (t) => {
  const silent = await startReceiver(t);
  silent.answer = () => null;
  const late = { kind: 'failed', fault: /^no answer within 0.1 s$/ };
  t.match(await send(silent.url, { timeoutMs: 100 }), late);
  const unknown = { timeoutMs: 100, resolve: () => new Promise<never>(() => undefined) };
  t.match(await send(named(silent.url), unknown), late, 'a name that nobody answers for');
  t.match(await send(named(silent.url)), { fault: /^hook.example has no address/ });
  const raw = async (words: string) => {
    const url = await startRaw(t, words);
    return send(url);
  };
  t.match(await raw('HTTP/1.1 2'), { kind: 'failed' });
  t.match(await raw(''), { kind: 'failed' });
  t.match(await raw(`HTTP/1.1 200 OK\r\nlong: ${'a'.repeat(20_000)}\r\n\r\n`), {
    kind: 'failed',
    fault: /HPE_HEADER_OVERFLOW/,
  });
  t.match(
    await raw('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
    { kind: 'failed' },
  );
  const endless = await raw('HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\nand so on');
  t.same(endless, { kind: 'answered', status: 200, retryAfter: null }, 'nobody waits for the body');
});

t.test('the caller gives up', async (t) => {
  const silent = await startReceiver(t);
  silent.answer = () => null;
  const end = new AbortController();
  const posted = send(silent.url, { signal: end.signal });
  setTimeout(() => end.abort(), 50);
  t.same(await posted, { kind: 'aborted' });
});

/** A server that answers every connection with these words and closes it. */
async function startRaw(t: Test, words: string): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(words));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closeWith(t, server);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
