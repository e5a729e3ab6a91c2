/** The listener: who speaks HTTP/2 is let in, nobody else, and closing leaves nothing open. */

import { once } from 'node:events';
import type { TLSSocket } from 'node:tls';
import { connect } from 'node:tls';
import t from 'tap';
import { listen } from '../../../src/http2/server/listen.ts';
import { createCertificate } from '../../../src/simulator/certificate.ts';

/** Resolves when the server has ended it, with or without an alert. */
const closed = (socket: TLSSocket): Promise<void> =>
  new Promise((resolve) => {
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
    socket.resume();
  });

t.test('only h2 is let in', async (t) => {
  const certificate = await createCertificate('127.0.0.1');
  let connections = 0;
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    ...certificate,
    onConnection: () => {
      connections += 1;
    },
  });
  const options = { host: '127.0.0.1', port: listener.port, ca: certificate.certificatePem };
  const good = connect({ ...options, ALPNProtocols: ['h2'] });
  await once(good, 'secureConnect');
  t.equal(good.alpnProtocol, 'h2');
  await closed(connect(options));
  await closed(connect({ ...options, ALPNProtocols: ['http/1.1'] }));
  t.equal(connections, 1);
  const gone = closed(good);
  await listener.close();
  await gone;
});

t.test('a port that is taken is an error', async (t) => {
  const certificate = await createCertificate('127.0.0.1');
  const options = { host: '127.0.0.1', ...certificate, onConnection: () => undefined };
  const first = await listen({ ...options, port: 0 });
  await t.rejects(listen({ ...options, port: first.port }), { code: 'EADDRINUSE' });
  await first.close();
});
