/** A request without its body. It does not need the socket any more. */

export interface RequestHead {
  /** As received: methods are case-sensitive (RFC 9110, 9.1). */
  readonly method: string;
  /** As received, percent-encoded, without the query. */
  readonly path: string;
  readonly query: string;
  /** The address of the connection, also behind a proxy. */
  readonly remoteAddress: string;
  readonly headers: RequestHeaders;
}

/** Every header that the service reads from a request. Of the others only the form is checked. */
export const READ_HEADERS = [
  'accept',
  'accept-encoding',
  'access-control-request-headers',
  'authorization',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'host',
  'idempotency-key',
  'if-none-match',
  'origin',
  'sec-fetch-mode',
  'sec-fetch-site',
  'tagcast-client',
  'x-csrf-token',
  'x-forwarded-for',
  'x-forwarded-proto',
  'traceparent',
  'x-request-id',
] as const;

export class RequestHeaders {
  readonly #values: readonly (string | null)[];

  /** Values in the order of READ_HEADERS; null for headers that were not sent. */
  constructor(values: readonly (string | null)[]) {
    this.#values = values;
  }

  /** Whether a header was sent, with or without a value. */
  has(name: string): boolean {
    return this.#valueOf(name) !== null;
  }

  /**
   * The value of a header by its lower-case name, or ''. Throws for a name that is not in
   * READ_HEADERS.
   */
  get(name: string): string {
    return this.#valueOf(name) ?? '';
  }

  #valueOf(name: string): string | null {
    const value = this.#values[(READ_HEADERS as readonly string[]).indexOf(name)];
    if (value === undefined) throw new Error(`header ${name} is not read: add it to READ_HEADERS`);
    return value;
  }
}

/** The headers of input that is not a request. */
export const NO_HEADERS = new RequestHeaders(READ_HEADERS.map(() => null));
