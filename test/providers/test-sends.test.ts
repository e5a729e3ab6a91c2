import t from 'tap';
import type { TestGrant, TestResult } from '../../src/providers/test-sends.ts';
import { TestSends } from '../../src/providers/test-sends.ts';
import { DEFAULT_ORIGINS } from '../support/default-origins.ts';
import { until } from '../support/poll.ts';
import { apnsCredential } from '../support/provider-credentials.ts';
import { answer, startProviderPeer } from '../support/provider-peer.ts';

const REFUSAL: TestGrant = { kind: 'fault', reason: 'none' };

const toDevice = (clientId: number, deviceId = 'ab'.repeat(32)) => ({
  clientId,
  appId: 1,
  platformId: 3,
  deviceId,
  payload: { title: 'hi', data: {} },
});

/** Whose right to send is being asked for until the test says so. */
function waiting() {
  let release: (grant: TestGrant) => void = () => undefined;
  const grant = new Promise<TestGrant>((resolve) => {
    release = resolve;
  });
  const tests = new TestSends({
    replaceableDefault: true,
    origins: DEFAULT_ORIGINS,
    transport: 'http2',
    authorize: () => grant,
  });
  return { tests, release: () => release(REFUSAL) };
}

t.test('eight at a time, of all clients', async (t) => {
  const { tests, release } = waiting();
  const first = Array.from({ length: 8 }, (_, client) => tests.run(toDevice(client)));
  t.strictSame(await tests.run(toDevice(8)), { kind: 'busy' });
  release();
  for (const result of await Promise.all(first)) t.equal(result.kind, 'answered');
  t.equal((await tests.run(toDevice(8))).kind, 'answered', 'there is room again');
});

t.test('one a second of a client, and two at a time', async (t) => {
  const { tests, release } = waiting();
  const results: TestResult[] = [];
  const run = () => void tests.run(toDevice(1)).then((result) => results.push(result));
  run();
  t.strictSame(await tests.run(toDevice(1)), { kind: 'too-many' });
  // A second later another one begins, and then there is no room for a third.
  await until('two are under way', async () => {
    const probe = tests.run(toDevice(1));
    const result = await Promise.race([probe, Promise.resolve(null)]);
    return result?.kind === 'busy' ? true : null;
  });
  release();
  await until('all are answered', () => (results.length === 1 ? true : null));
});

t.test('each closes its connection behind it', async (t) => {
  const peer = await startProviderPeer({ script: (request) => answer(request, 200) });
  t.teardown(() => peer.close());
  const authorized = { credential: apnsCredential(), authorization: 'bearer x' };
  const tests = new TestSends({
    replaceableDefault: true,
    origins: { ...DEFAULT_ORIGINS, apnsProduction: peer.origin, ca: peer.ca },
    transport: 'http2',
    authorize: () => Promise.resolve({ kind: 'granted', authorized }),
  });
  t.match(await tests.run(toDevice(1)), {
    kind: 'answered',
    outcome: { kind: 'delivered' },
    isSimulated: false,
  });
  t.match(await tests.run(toDevice(2, 'no hex')), { outcome: { reason: 'BadDeviceToken' } });
  t.match(
    peer.received.map(({ headers }) => headers[':path']),
    [`/3/device/${'ab'.repeat(32)}`],
  );
  await until('they are closed', () => (peer.sessions.size === 0 ? true : null));
});

t.test('a host that is not there is told within the time', async (t) => {
  const gone = await startProviderPeer({ script: () => undefined });
  await gone.close();
  const authorized = { credential: apnsCredential(), authorization: 'bearer x' };
  const tests = new TestSends({
    replaceableDefault: true,
    origins: { ...DEFAULT_ORIGINS, apnsProduction: gone.origin, ca: gone.ca },
    transport: 'http2',
    authorize: () => Promise.resolve({ kind: 'granted', authorized }),
  });
  t.match(await tests.run(toDevice(1)), { outcome: { kind: 'unavailable' } });
});
