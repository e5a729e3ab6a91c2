/** A request before its body: nothing here needs the socket any more. */

export interface RequestHead {
  /** As it came: methods are case-sensitive (RFC 9110, 9.1). */
  readonly method: string;
  /** As it came, percent-encoded, without the query. */
  readonly path: string;
  readonly query: string;
  /** Of the connection, not of whom a proxy speaks for. */
  readonly remoteAddress: string;
  readonly headers: RequestHeaders;
}

/** Every header that anything here reads. The others are looked at for their form, and dropped. */
export const READ_HEADERS = [
  'accept',
  'accept-encoding',
  'access-control-request-headers',
  'authorization',
  'content-length',
  'idempotency-key',
  'if-none-match',
  'origin',
  'x-forwarded-for',
  'x-request-id',
] as const;

export class RequestHeaders {
  readonly #values: readonly (string | null)[];

  /** Values in the order of READ_HEADERS; null for what did not come. */
  constructor(values: readonly (string | null)[]) {
    this.#values = values;
  }

  /** Whether a header came, with a value or without. */
  has(name: string): boolean {
    return this.#valueOf(name) !== null;
  }

  /**
   * The value of a header by its lower-case name, or ''. A name that is not read is a fault of the
   * program.
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

/** The head of what was no request. */
export const NO_HEADERS = new RequestHeaders(READ_HEADERS.map(() => null));
