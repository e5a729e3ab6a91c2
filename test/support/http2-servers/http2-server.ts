/** A running HTTP/2 server of the tests. */

import type { Lifetime } from '../lifetime.ts';

export interface Http2Server {
  /** `https://host:port`: TLS, and h2 by ALPN. */
  readonly origin: string;
  /** `http://host:port`: h2 from the first byte (prior knowledge). */
  readonly cleartextOrigin: string;
  /** The certificate that a client must trust for `origin`. */
  readonly ca: string;
}

/** Starts one for the life of a test; null when it is not installed. */
export type StartHttp2Server = (t: Lifetime) => Promise<Http2Server | null>;

export const serverAt = (ca: string, ports: readonly number[]): Http2Server => {
  const [tlsPort, cleartextPort] = ports;
  return {
    origin: `https://127.0.0.1:${tlsPort}`,
    cleartextOrigin: `http://127.0.0.1:${cleartextPort}`,
    ca,
  };
};
