/** The caller's address, as a trusted proxy or the connection has it; whether it is encrypted. */

import { BlockList, isIP } from 'node:net';
import { normalAddress } from '../../packages/std/src/ip-address.ts';

/** Resolves connection and X-Forwarded-For to the caller's address, in its normal spelling. */
export type AddressResolver = (remoteAddress: string, forwardedFor: string) => string;

/** Learns the address of an untrusted peer that names another caller. */
type OnUntrusted = (address: string) => void;

/** Learns the address of a trusted proxy that names a caller by what is no address. */
type OnUnreadable = (address: string) => void;

/** `trustedProxies`: addresses or networks (`10.0.0.0/8`), as `readNetwork` takes them. */
export function createAddressResolver(
  trustedProxies: readonly string[],
  onUntrusted: OnUntrusted,
  onUnreadable: OnUnreadable,
): AddressResolver {
  const isTrusted = trustIn(trustedProxies);
  return (remoteAddress, forwardedFor) => {
    const address = normalAddress(remoteAddress);
    if (forwardedFor === '') return address;
    if (isTrusted(address)) return lastUntrusted(address, forwardedFor, isTrusted, onUnreadable);
    onUntrusted(address);
    return address;
  };
}

/** Whether the caller's connection is encrypted, up to us or to a trusted proxy. */
export type SecurityResolver = (remoteAddress: string, forwardedProto: string) => boolean;

/** `isEncrypted`: we have a certificate ourselves. */
export function createSecurityResolver(
  trustedProxies: readonly string[],
  isEncrypted: boolean,
  onUntrusted: OnUntrusted,
): SecurityResolver {
  if (isEncrypted) return () => true;
  const isTrusted = trustIn(trustedProxies);
  return (remoteAddress, forwardedProto) => {
    if (forwardedProto === '') return false;
    const address = normalAddress(remoteAddress);
    if (isTrusted(address))
      return forwardedProto.split(',').at(-1)?.trim().toLowerCase() === 'https';
    onUntrusted(address);
    return false;
  };
}

function trustIn(trustedProxies: readonly string[]): (address: string) => boolean {
  if (trustedProxies.length === 0) return () => false;
  const trusted = new BlockList();
  for (const proxy of trustedProxies) {
    const network = readNetwork(proxy);
    if (network === null) throw new Error(`${proxy} is neither an address nor a network`);
    trusted.addSubnet(network.address, network.bits, familyOf(network.address));
  }
  return (address) => trusted.check(address, familyOf(address));
}

/**
 * Each proxy appends the address that it received the request from: read from the end. A caller may
 * have invented all before the first address that we do not trust.
 */
function lastUntrusted(
  remoteAddress: string,
  forwardedFor: string,
  isTrusted: (address: string) => boolean,
  onUnreadable: OnUnreadable,
): string {
  let address = remoteAddress;
  for (const entry of forwardedFor.split(',').reverse()) {
    const named = namedIn(entry);
    if (named === null) {
      onUnreadable(remoteAddress);
      return address;
    }
    address = named;
    if (!isTrusted(address)) return address;
  }
  return address;
}

/** In quotes, in brackets, with a port: gateways write these forms, as in Forwarded (RFC 7239). */
const ENTRY = /^\s*"?(?:\[([^\]]*)\](?::\d+)?|([^:]*):\d+|([^"]*))"?\s*$/;

function namedIn(entry: string): string | null {
  const [, inBrackets, withPort, plain = ''] = ENTRY.exec(entry) ?? [];
  const named = (inBrackets ?? withPort ?? plain).trim();
  return isIP(named) === 0 ? null : normalAddress(named);
}

interface Network {
  readonly address: string;
  readonly bits: number;
}

/** Reads an address or a network as `10.0.0.0/8`; null: it is neither. */
export function readNetwork(text: string): Network | null {
  const [written = '', prefix, ...rest] = text.split('/');
  // Peers are looked for in their normal spelling, which an IPv4 address in IPv6 never has.
  const address = prefix === undefined && isIP(written) !== 0 ? normalAddress(written) : written;
  const bitsMax = isIP(address) === 4 ? 32 : 128;
  const bits = Number(prefix ?? bitsMax);
  const isNetwork =
    isIP(address) !== 0 &&
    rest.length === 0 &&
    Number.isInteger(bits) &&
    bits >= 0 &&
    bits <= bitsMax;
  return isNetwork ? { address, bits } : null;
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 4 ? 'ipv4' : 'ipv6');
