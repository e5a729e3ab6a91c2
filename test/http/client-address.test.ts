/** Forwarded addresses count from trusted proxies only. */

import t from 'tap';
import { createAddressResolver } from '../../src/http/client-address.ts';

t.test('without trusted proxies the header means nothing', (t) => {
  const addressOf = createAddressResolver([]);
  t.equal(addressOf('192.0.2.1', '198.51.100.7'), '192.0.2.1');
  t.end();
});

t.test('an IPv4 address mapped into IPv6 is the IPv4 address', (t) => {
  const mapped = '0000:0000:0000:0000:0000:ffff:c000:0201';
  t.equal(createAddressResolver([])(mapped, ''), '192.0.2.1');
  t.equal(createAddressResolver(['192.0.2.1'])(mapped, '198.51.100.7'), '198.51.100.7');
  const other = '2001:0db8:0000:0000:0000:ffff:c000:0201';
  t.equal(createAddressResolver([])(other, ''), '2001:db8::ffff:c000:201');
  t.end();
});

t.test('from a trusted proxy the last address that is no proxy counts', (t) => {
  const addressOf = createAddressResolver(['127.0.0.1', '10.0.0.0/8', '2001:db8::/32']);
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
  ];
  for (const [remote, forwarded, address] of cases) {
    t.equal(addressOf(remote, forwarded), address, `${remote} says ${forwarded}`);
  }
  t.end();
});

t.test('what is no address is refused at the start', (t) => {
  for (const bad of ['proxy.example', '10.0.0.0/33', '10.0.0.0/x', '10.0.0.0/8/8', '']) {
    t.throws(() => createAddressResolver([bad]), /TRUSTED_PROXIES/, bad);
  }
  t.end();
});
