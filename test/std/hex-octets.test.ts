import { createHash } from 'node:crypto';
import t from 'tap';
import { HexOctets } from '../../src/std/hex-octets.ts';

const everyOctet = Buffer.from(Array.from({ length: 256 }, (_, octet) => octet));

t.test('reads as the text that it is', (t) => {
  const octets = createHash('sha256').update('a token').digest();
  const hex = new HexOctets(octets, 0, octets.length);
  t.equal(String(hex), octets.toString('hex'));
  t.equal(hex.length, 64);
  t.equal(String(new HexOctets(octets, 4, 6)), octets.toString('hex', 4, 6), 'where it lies');
  t.equal(String(new HexOctets(octets, 6, 6)), '');
  t.end();
});

t.test('is written where it belongs, and nowhere else', (t) => {
  const into = Buffer.alloc(600, '.');
  const hex = new HexOctets(everyOctet, 1, 256);
  hex.write(into, 10);
  t.equal(into.toString('latin1', 10, 10 + hex.length), everyOctet.toString('hex', 1));
  t.equal(into.toString('latin1', 0, 10), '.'.repeat(10));
  t.equal(into.toString('latin1', 10 + hex.length), '.'.repeat(600 - 10 - hex.length));
  t.end();
});
