/** A request before its body, as the server copied it: nothing here needs the socket any more. */

export interface RequestHead {
  /** In capitals. */
  readonly method: string;
  /** As it came, percent-encoded, without the query. */
  readonly path: string;
  readonly query: string;
  /** Of the connection, not of whom a proxy speaks for. */
  readonly remoteAddress: string;
  readonly headers: CopiedHeaders;
}

/**
 * Every header that anything here reads. The server's request dies with its callback, so headers are copied in it; copying
 * these costs less than copying all that came.
 */
export const COPIED_HEADERS = [
  'accept',
  'authorization',
  'content-length',
  'idempotency-key',
  'if-none-match',
  'origin',
  'x-forwarded-for',
  'x-request-id',
] as const;

export type CopiedHeader = (typeof COPIED_HEADERS)[number];

export class CopiedHeaders {
  readonly #values: readonly string[];

  /** `read` answers a header's value, or ''; it is not called later. */
  constructor(read: (name: CopiedHeader) => string) {
    this.#values = COPIED_HEADERS.map(read);
  }

  /** The value of a header by its lower-case name, or ''. A name that is not copied is a fault of the program. */
  get(name: string): string {
    const value = this.#values[(COPIED_HEADERS as readonly string[]).indexOf(name)];
    if (value === undefined)
      throw new Error(`header ${name} is not copied: add it to COPIED_HEADERS`);
    return value;
  }
}
