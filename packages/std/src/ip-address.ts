/** IP addresses in one spelling, and as the networks by which callers are counted. */

import { SocketAddress } from 'node:net';

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/;
/**
 * The part of an IPv6 address that one customer has: the first four of its eight groups (RFC 6177).
 */
const IPV6_NETWORK_GROUPS = 4;
const IPV6_SITE_GROUPS = 3;

/**
 * One spelling for each address: IPv4 as it is, also where a listener on `::` shows it mapped into
 * IPv6; IPv6 in its short form (RFC 5952), without a zone. `address` must be an address: from the
 * system, or checked with `isIP`.
 */
export function normalAddress(address: string): string {
  if (!address.includes(':')) return address;
  const [withoutZone = ''] = address.split('%');
  const short = new SocketAddress({ address: withoutZone, family: 'ipv6' }).address;
  return MAPPED.exec(short)?.[1] ?? short;
}

/**
 * The network as which a caller is counted: IPv4 as it is; IPv6 by its /64, since a caller with one
 * address has 2^64 of them.
 */
export function networkOf(address: string): string {
  const normal = normalAddress(address);
  if (!normal.includes(':')) return normal;
  const [head = '', tail] = normal.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0');
  return [...first, ...zeros, ...last].slice(0, IPV6_NETWORK_GROUPS).join(':');
}

/**
 * The site of a network, which is one: of IPv6 its /48, the most that a customer gets (RFC 6177);
 * of IPv4 the address itself.
 */
export const siteOf = (network: string): string =>
  network.split(':').slice(0, IPV6_SITE_GROUPS).join(':');

/** Whether it is this machine's loopback. Takes a normal address. */
export const isLoopback = (address: string): boolean =>
  address.startsWith('127.') || address === '::1';
