/**
 * What passes between the wire and a simulated provider: one request, one answer. Whatever speaks HTTP/2
 * (`node:http2` today) makes the one and sends the other, and the providers know no more of it.
 */

export interface ProviderRequest {
  readonly method: string;
  readonly path: string;
  readonly authority: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Whether a header came twice; `headers` cannot show that any more. */
  readonly hasDuplicateHeaders: boolean;
  /** At most BODY_BYTES_MAX and one byte more, which is how a provider sees that there was more. */
  readonly body: Buffer;
  readonly connection: ConnectionMemory;
}

/** What APNs remembers of a connection; `apns-token.ts` says what for. */
export interface ConnectionMemory {
  teamId?: string;
  readonly providerTokens: Map<string, number>;
}

export interface ProviderAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty: the answer is its headers alone. */
  readonly body: string;
}

/** An answer, or none ever: a stream that stays open and silent. */
export type Handler = (request: ProviderRequest) => ProviderAnswer | 'silence';

/** No valid request comes near: APNs takes 5,120 bytes at most, FCM 4,096 of payload in a little JSON. */
export const BODY_BYTES_MAX = 65_536;

/** A header that a provider reads once; of a repeated one, node:http2 keeps a joined string. */
export function header(request: ProviderRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : value?.join(', ');
}
