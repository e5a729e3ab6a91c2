/** A request without its body. It does not need the socket any more. */

export interface RequestHead {
  /** Not normalized: methods are case-sensitive (RFC 9110, 9.1). */
  readonly method: string;
  /** Not decoded: percent-encoded, without the query. */
  readonly path: string;
  readonly query: string;
  /** The address of the connection: a proxy's, if one is between. */
  readonly remoteAddress: string;
  readonly headers: RequestHeaders;
}

export class RequestHeaders {
  readonly #names: readonly string[];
  readonly #values: readonly (string | null)[];

  /** `names`: those that are read; `values` in their order, null for headers that were not sent. */
  constructor(names: readonly string[], values: readonly (string | null)[]) {
    this.#names = names;
    this.#values = values;
  }

  /** Whether a header was sent, with or without a value. */
  has(name: string): boolean {
    return this.#valueOf(name) !== null;
  }

  /** The value of a header by its lower-case name, or ''. Throws for a name that is not read. */
  get(name: string): string {
    return this.#valueOf(name) ?? '';
  }

  #valueOf(name: string): string | null {
    const value = this.#values[this.#names.indexOf(name)];
    if (value === undefined) throw new Error(`header ${name} is not read: no list names it`);
    return value;
  }
}
