/** The simulator in its own thread is the same simulator. */

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import t from 'tap';
import { createAccounts } from '../../../packages/simulator/src/accounts.ts';
import { startSimulatorThread } from '../../../src/app/demo/simulator-thread.ts';
import { apnsHeaders, apnsToken, ask, control, open } from '../../packages/simulator/peer.ts';

t.test('it takes its options, serves, and ends with its connections open', async (t) => {
  const accounts = await createAccounts();
  const simulator = await startSimulatorThread({ accounts, behaviour: { shares: { gone: 1 } } });
  t.same(simulator.accounts, accounts);
  const session = open(t, simulator, simulator.apnsOrigin);
  const reply = await ask(session, await apnsHeaders(accounts, apnsToken(1)), '{"aps":{}}');
  t.equal(reply.status, 410);
  t.match((await control(simulator, 'GET /state')).json, {
    apns: { rejected: { Unregistered: 1 } },
  });
  await simulator.close();
  await t.rejects(control(simulator, 'GET /state'), 'nobody listens any more');
});

t.test('a port that is taken is told to whoever starts it', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  t.teardown(() => other.close());
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  await t.rejects(startSimulatorThread({ ports: { fcm: port } }), { code: 'EADDRINUSE' });
});
