/** What a client of the bench sends to: an HTTP/2 server in a process of its own, so that its CPU is not counted. */

import type { ApnsCredential } from '../../src/domain/credential.ts';

export interface Sink {
  readonly name: 'nghttpd' | 'simulator';
  readonly host: string;
  readonly port: number;
  /** What a client must trust. */
  readonly ca: string;
  readonly credential: ApnsCredential;
  /** A valid `authorization` value, for clients that do not make their own. */
  readonly authorization: string;
  /** Distinct; a push to each of them is answered 200. Clients go around them in this order. */
  readonly tokens: readonly string[];
}

export const originOf = ({ host, port }: Sink): string => `https://${host}:${port}`;
