/** Forwarded addresses count from trusted proxies only. */

import t from 'tap';
import {
  createAddressResolver,
  createSecurityResolver,
  readNetwork,
} from '../../src/http/client-address.ts';

const untold = (): void => undefined;

t.test('without trusted proxies the header means nothing', (t) => {
  const addressOf = createAddressResolver([], untold, untold);
  t.equal(addressOf('192.0.2.1', '198.51.100.7'), '192.0.2.1');
  t.end();
});

t.test('an IPv4 address mapped into IPv6 is the IPv4 address', (t) => {
  const mapped = '0000:0000:0000:0000:0000:ffff:c000:0201';
  t.equal(createAddressResolver([], untold, untold)(mapped, ''), '192.0.2.1');
  t.equal(
    createAddressResolver(['192.0.2.1'], untold, untold)(mapped, '198.51.100.7'),
    '198.51.100.7',
  );
  const other = '2001:0db8:0000:0000:0000:ffff:c000:0201';
  t.equal(createAddressResolver([], untold, untold)(other, ''), '2001:db8::ffff:c000:201');
  t.end();
});

t.test('from a trusted proxy the last address that is no proxy counts', (t) => {
  const addressOf = createAddressResolver(
    ['127.0.0.1', '10.0.0.0/8', '2001:db8::/32'],
    untold,
    untold,
  );
  const cases: readonly (readonly [remote: string, forwarded: string, address: string])[] = [
    ['127.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['127.0.0.1', '203.0.113.1, 198.51.100.7', '198.51.100.7'],
    ['127.0.0.1', '203.0.113.1, 198.51.100.7, 10.1.2.3', '198.51.100.7'],
    ['2001:0db8:0000:0000:0000:0000:0000:0001', '198.51.100.7', '198.51.100.7'],
    ['127.0.0.1', '2a00::1', '2a00::1'],
    ['192.0.2.1', '198.51.100.7', '192.0.2.1'],
    ['127.0.0.1', '', '127.0.0.1'],
    ['127.0.0.1', 'unknown', '127.0.0.1'],
    ['127.0.0.1', '198.51.100.7, not an address', '127.0.0.1'],
    ['127.0.0.1', '10.1.2.3', '10.1.2.3'],
    ['127.0.0.1', '203.0.113.3:5000', '203.0.113.3'],
    ['127.0.0.1', '203.0.113.9:1, 203.0.113.3:5000,10.1.2.3:80', '203.0.113.3'],
    ['127.0.0.1', '[2a00::1]:5000', '2a00::1'],
    ['127.0.0.1', '[2a00::1]', '2a00::1'],
    ['127.0.0.1', '"[2a00::1]:5000"', '2a00::1'],
    ['127.0.0.1', '::ffff:203.0.113.3', '203.0.113.3'],
    ['127.0.0.1', '203.0.113.3:port', '127.0.0.1'],
    ['127.0.0.1', '[203.0.113.3', '127.0.0.1'],
  ];
  for (const [remote, forwarded, address] of cases) {
    t.equal(addressOf(remote, forwarded), address, `${remote} says ${forwarded}`);
  }
  t.end();
});

t.test('a trusted proxy that names nobody is told', (t) => {
  const told: string[] = [];
  const onUnreadable = (address: string): number => told.push(address);
  const addressOf = createAddressResolver(['192.0.2.1'], untold, onUnreadable);
  addressOf('192.0.2.1', '203.0.113.3:5000');
  addressOf('192.0.2.2', 'unknown');
  t.same(told, []);
  addressOf('192.0.2.1', 'unknown');
  t.same(told, ['192.0.2.1']);
  t.end();
});

t.test('a proxy is found however its address is written', (t) => {
  for (const proxy of ['::ffff:192.0.2.1', '192.0.2.1']) {
    const addressOf = createAddressResolver([proxy], untold, untold);
    t.equal(addressOf('192.0.2.1', '198.51.100.7'), '198.51.100.7');
  }
  t.end();
});

t.test('what is no address is refused at the start', (t) => {
  for (const bad of ['proxy.example', '10.0.0.0/33', '10.0.0.0/x', '10.0.0.0/8/8', '']) {
    t.equal(readNetwork(bad), null, bad);
    t.throws(() => createAddressResolver([bad], untold, untold), /neither/, bad);
  }
  t.end();
});

t.test('who names another caller and is not trusted is told', (t) => {
  for (const trusted of [[], ['192.0.2.9']]) {
    const told: string[] = [];
    const onUntrusted = (address: string): number => told.push(address);
    const addressOf = createAddressResolver(trusted, onUntrusted, untold);
    const isSecureOf = createSecurityResolver(trusted, false, onUntrusted);
    addressOf('192.0.2.1', '');
    t.notOk(isSecureOf('192.0.2.1', ''));
    t.same(told, [], 'who names nobody is not');
    addressOf('192.0.2.1', '198.51.100.7');
    t.notOk(isSecureOf('::ffff:192.0.2.2', 'https'));
    t.same(told, ['192.0.2.1', '192.0.2.2']);
    addressOf('192.0.2.9', '198.51.100.7');
    t.equal(isSecureOf('192.0.2.9', 'https'), trusted.length > 0);
    t.equal(told.length, trusted.length > 0 ? 2 : 4);
  }
  t.end();
});
