import { lookup } from 'node:dns';
import { createServer as createTcpServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { generate } from 'selfsigned';
import type { Test } from 'tap';
import t from 'tap';
import { post } from '../../src/transport/compat/post.ts';
import { connectFault } from '../../src/transport/connect-fault.ts';
import { closeWith } from '../support/close-with.ts';
import { answer, startProviderPeer } from '../support/provider-peer.ts';

t.test('a sentence for each reason, with host and port', (t) => {
  const rows: readonly (readonly [string, string, RegExp])[] = [
    ['https://api.push.apple.com', 'ECONNREFUSED', /^api\.push\.apple\.com:443 refuses .*\(ECONN/],
    ['https://proxy.example:8443', 'ETIMEDOUT', /^proxy\.example:8443 does not answer: is a fire/],
    ['https://a.example', 'connection time-out', /^a\.example:443 does not answer/],
    ['https://a.example', 'ENOTFOUND', /^a\.example:443 has no address: is the name wrong/],
    ['https://a.example', 'EAI_AGAIN', /DNS does not answer \(EAI_AGAIN\)$/],
    ['https://a.example', 'ENETUNREACH', /no route/],
    ['https://a.example', 'ECONNRESET', /closes the connection before it has begun/],
    [
      'https://a.example',
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      /^the certificate of a\.example:443 does not verify .*PROVIDER_CA_FILE/,
    ],
    ['https://a.example', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', /PROVIDER_CA_FILE/],
    ['https://a.example', 'CERT_HAS_EXPIRED', /has expired: is the clock/],
    ['https://a.example', 'ERR_TLS_CERT_ALTNAME_INVALID', /certificate for another name/],
    ['https://a.example', 'ERR_SSL_WRONG_VERSION_NUMBER', /does not speak TLS as it should/],
    ['https://a.example', 'EPROTO', /does not speak TLS/],
    ['https://a.example', 'the peer does not speak HTTP/2', /has no HTTP\/2, .*ALPN h2/],
    [
      'https://a.example',
      'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL',
      /^a\.example:443 has no HTTP\/2, which Tagcast needs: turn it on/,
    ],
    ['http://[::1]', 'something new', /^\[::1\]:80 cannot be reached: something new$/],
    ['no url', 'x', /^no url cannot be reached/],
  ];
  for (const [origin, reason, sentence] of rows) {
    const said = connectFault(origin, reason);
    t.match(said, sentence, reason);
    t.notMatch(said, /\.$/);
  }
  t.end();
});

const ask = (origin: string, ca: string | null = null, timeoutMs = 5_000) =>
  post({ origin, ca, path: '/', fields: {}, body: '', timeoutMs, bodyBytesMax: 1_000 });

const listening = (t: Test, server: ReturnType<typeof createTcpServer>): Promise<number> =>
  new Promise((resolve) => {
    closeWith(t, server);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });

t.test('what really happens gets its sentence', async (t) => {
  const peer = await startProviderPeer({ script: (request) => answer(request, 200) });
  t.match(await ask(peer.origin), { ok: false, reason: /does not verify .*PROVIDER_CA_FILE/ });
  t.match(await ask(peer.origin, peer.ca), { ok: true });
  await peer.close();
  t.match(await ask(peer.origin, peer.ca), { ok: false, reason: /refuses connections/ });

  const dumb = await listening(
    t,
    createTcpServer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n')),
  );
  t.match(await ask(`https://127.0.0.1:${dumb}`), { ok: false, reason: /TLS|before it has begun/ });

  const silent = await listening(
    t,
    createTcpServer((socket) => t.teardown(() => socket.destroy())),
  );
  t.match(await ask(`https://127.0.0.1:${silent}`, null, 100), {
    ok: false,
    reason: /does not answer: is a firewall/,
  });

  const other = await generate([{ name: 'commonName', value: 'other.example' }], {
    keyType: 'ec',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'other.example' }] }],
  });
  const named = createTlsServer({
    key: other.private,
    cert: other.cert,
    ALPNProtocols: ['h2'],
  });
  const port = await listening(t, named);
  t.match(await ask(`https://127.0.0.1:${port}`, other.cert), {
    ok: false,
    reason: /another name/,
  });

  const unknown = await new Promise<boolean>((resolve) =>
    lookup('nowhere.invalid', (error) => resolve(error !== null)),
  );
  if (unknown) {
    t.match(await ask('https://nowhere.invalid'), {
      reason: /^nowhere\.invalid:443 has no address/,
    });
  }
});
