/** The whole: where it listens, and that it ends every connection. */

import { once } from 'node:events';
import { connect } from 'node:net';
import t from 'tap';
import { startSimulator } from '../../../packages/simulator/src/simulator.ts';
import { apnsHeaders, apnsToken, ask, open } from './peer.ts';

t.test('it closes while clients are connected, silent or half way in', async (t) => {
  const simulator = await startSimulator({ behaviour: { silentShare: 1 } });
  const session = open(t, simulator, simulator.apnsOrigin);
  await once(session, 'remoteSettings');
  const headers = await apnsHeaders(simulator.accounts, apnsToken(1));
  const unanswered = t.rejects(ask(session, headers, '{"aps":{}}'));
  const { hostname, port } = new URL(simulator.fcmOrigin);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  await simulator.close();
  await unanswered;
  if (!socket.closed) await once(socket, 'close');
});

t.test('a wildcard host is given as an address that one can connect to', async (t) => {
  const simulator = await startSimulator({ host: '0.0.0.0' });
  t.teardown(() => simulator.close());
  for (const origin of [simulator.apnsOrigin, simulator.oauthOrigin, simulator.fcmOrigin]) {
    t.match(origin, 'https://127.0.0.1:');
  }
  const session = open(t, simulator, simulator.apnsOrigin);
  const headers = await apnsHeaders(simulator.accounts, apnsToken(1));
  t.equal((await ask(session, headers, '{"aps":{}}')).status, 200);
});

t.test('two account sets make two simulators that do not trust each other', async (t) => {
  const [first, second] = await Promise.all([startSimulator(), startSimulator()]);
  t.teardown(() => Promise.all([first.close(), second.close()]));
  const session = open(t, first, first.apnsOrigin);
  const headers = await apnsHeaders(second.accounts, apnsToken(1));
  t.equal((await ask(session, headers, '{"aps":{}}')).status, 403);
});
