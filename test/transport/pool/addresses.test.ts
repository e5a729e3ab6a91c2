import t from 'tap';
import { Addresses, resolveBySystem } from '../../../src/transport/pool/addresses.ts';

const addressesOf = (hostname: string, admits: ((address: string) => boolean) | null = null) =>
  new Addresses({ hostname, timeoutMs: 5_000, admits, resolve: resolveBySystem });

t.test('an address is its own', async (t) => {
  t.same(await addressesOf('127.0.0.1').next(0), { ok: true, address: '127.0.0.1' });
  t.same(await addressesOf('[::1]').next(0), { ok: true, address: '::1' });
});

t.test('a name is resolved by the system', async (t) => {
  const found = await addressesOf('localhost').next(0);
  t.ok(found.ok && ['127.0.0.1', '::1'].includes(found.address));
});

t.test('a name that does not exist says so', async (t) => {
  const found = await addressesOf('does-not-exist.invalid').next(0);
  t.match(found, { ok: false, reason: /^(ENOTFOUND|EAI_AGAIN)$/ });
});

t.test('what must not be connected to is not', async (t) => {
  const asked: string[] = [];
  const found = await addressesOf('localhost', (address) => {
    asked.push(address);
    return false;
  }).next(0);
  t.match(found, { ok: false, reason: 'no address of localhost may be connected to' });
  t.ok(asked.length > 0);
  t.match(await addressesOf('127.0.0.1', () => false).next(0), { ok: false });
});

t.test('a failure is remembered for a minute, and forgotten when it works', async (t) => {
  const addresses = addressesOf('127.0.0.1');
  addresses.failed('127.0.0.1', 0);
  t.ok(addresses.hasFailed('127.0.0.1', 59_999));
  t.notOk(addresses.hasFailed('127.0.0.1', 60_000));
  t.same(
    await addresses.next(1),
    { ok: true, address: '127.0.0.1' },
    'the only one is tried anyhow',
  );
  addresses.worked('127.0.0.1');
  t.notOk(addresses.hasFailed('127.0.0.1', 1));
});

const severalOf = (...found: readonly string[]) =>
  new Addresses({
    hostname: 'provider.example',
    timeoutMs: 50,
    admits: null,
    resolve: () => Promise.resolve(found),
  });

async function take(addresses: Addresses, nowMs = 0): Promise<string> {
  const found = await addresses.next(nowMs);
  if (!found.ok) throw new Error(found.reason);
  addresses.use(found.address);
  return found.address;
}

t.test('connections are spread evenly, and go where one has ended', async (t) => {
  const addresses = severalOf('192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.1');
  const taken = [await take(addresses), await take(addresses), await take(addresses)];
  t.same(taken.sort(), ['192.0.2.1', '192.0.2.2', '192.0.2.3']);
  for (let more = 0; more < 3; more += 1) await take(addresses);
  addresses.release('192.0.2.2');
  t.equal(await take(addresses), '192.0.2.2');
});

t.test('one that failed is left out while another is left', async (t) => {
  const addresses = severalOf('192.0.2.1', '192.0.2.2');
  addresses.failed('192.0.2.1', 0);
  t.same([await take(addresses), await take(addresses)], ['192.0.2.2', '192.0.2.2']);
  t.equal(await take(addresses, 60_000), '192.0.2.1');
});

t.test('a name server that says nothing', async (t) => {
  const addresses = new Addresses({
    hostname: 'provider.example',
    timeoutMs: 20,
    admits: null,
    resolve: () => new Promise(() => undefined),
  });
  t.match(await addresses.next(0), { ok: false, reason: /does not resolve in time/ });
});
