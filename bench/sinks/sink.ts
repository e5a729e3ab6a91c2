/**
 * The target of a client of the bench: an HTTP/2 server in a process of its own, so that its CPU is
 * not counted.
 */

import type { ApnsCredential } from '../../src/providers/apns/credential.ts';

export interface Sink<C = ApnsCredential> {
  readonly name: 'nghttpd' | 'simulator' | 'node:http2';
  readonly host: string;
  readonly port: number;
  /** The certificate that a client must trust. */
  readonly ca: string;
  readonly credential: C;
  /** A valid `authorization` value, for clients that do not make their own. */
  readonly authorization: string;
  /** Distinct; a push to each of them is answered 200. Clients go around them in this order. */
  readonly tokens: readonly string[];
}

export const originOf = ({ host, port }: Pick<Sink, 'host' | 'port'>): string =>
  `https://${host}:${port}`;
