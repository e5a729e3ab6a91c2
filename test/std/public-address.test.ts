import t from 'tap';
import { isPublicAddress } from '../../src/std/public-address.ts';

t.test('addresses of the public internet', (t) => {
  for (const address of ['8.8.8.8', '142.250.185.74', '17.188.1.1', '2a00:1450:4001::200a']) {
    t.equal(isPublicAddress(address), true, address);
  }
  t.end();
});

t.test('everything that leads elsewhere', (t) => {
  const elsewhere = [
    // This machine, this network, link-local, carrier-grade NAT.
    ...['0.0.0.0', '0.1.2.3', '127.0.0.1', '127.255.255.254', '10.0.0.1', '172.16.0.1'],
    ...['172.31.255.255', '192.168.1.1', '169.254.169.254', '100.64.0.1', '100.127.255.255'],
    // Protocols, documentation, benchmarks, multicast, reserved, broadcast.
    ...['192.0.0.8', '192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '192.88.99.1'],
    ...['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
    // The same in IPv6: unspecified, loopback, ULA, link-local, site-local, multicast,
    // documentation.
    ...['::', '::1', 'fc00::1', 'fd12:3456::1', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'ff02::1'],
    ...['2001:db8::1', '3fff::1', '100::1'],
    // Those that hold an IPv4 address: mapped, compatible, NAT64, 6to4, Teredo.
    ...['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:8.8.8.8', '::127.0.0.1', '64:ff9b::7f00:1'],
    ...['2002:7f00:1::', '2001:0:7f00:1::'],
    // No address at all.
    ...['', 'localhost', '127.1', '0x7f000001', '2130706433', '1.2.3.4.5'],
  ];
  for (const address of elsewhere) t.equal(isPublicAddress(address), false, address);
  t.end();
});

t.test('the neighbours of what is not public are', (t) => {
  const neighbours = ['9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.0.0.1'];
  for (const address of [...neighbours, '172.15.0.1', '172.32.0.1', '192.167.0.1', '223.255.0.1']) {
    t.equal(isPublicAddress(address), true, address);
  }
  t.end();
});
