/**
 * Reads the head of a request that uWebSockets.js has split into lines, by the rules of
 * `tagcast-http1`: its own parser accepts what two readers could understand differently, as two
 * lengths of one body.
 */

import type { Malformed } from '../../http1/src/front.ts';
import type { FieldValues, ParsedHead } from '../../http1/src/head-fields.ts';
import {
  BAD_REQUEST_LINE,
  HeadFields,
  malformed,
  TARGET_LENGTH_MAX,
  TARGET_TOO_LONG,
} from '../../http1/src/head-fields.ts';
import type { UwsRequest } from './uws.ts';

export interface ReadHead {
  readonly head: ParsedHead | Malformed;
  /**
   * uWebSockets.js takes it for a `Connection: close`: it closes after the answer by itself, and
   * does not say so in it.
   */
  readonly isCloseRead: boolean;
}

/** It reads no more than the length of the first such line. */
const CLOSE_LENGTH = 'close'.length;
/** RFC 9110, 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/;
/** A byte above ASCII, or a control character: two readers may disagree about it. */
const VISIBLE = /^[\x21-\x7e]+$/;
const BAD_TARGET = malformed(400, 'The path may have visible characters of ASCII only.');

export class HeadReader {
  readonly #fields: HeadFields;
  readonly #indexes: ReadonlyMap<string, number>;
  readonly #connection: number;
  readonly #take: (name: string, value: string) => void;
  /** These are of the head that is being read. */
  #values: FieldValues = [];
  #fault: Malformed | null = null;
  #isCloseRead = false;

  /** `readNames`: the headers that are read, in lower case. */
  constructor(readNames: readonly string[]) {
    this.#fields = new HeadFields(readNames);
    this.#indexes = new Map(this.#fields.names.map((name, index) => [name, index]));
    this.#connection = this.#fields.names.indexOf('connection');
    this.#take = (name, value) => this.#takeLine(name, value);
  }

  read(req: UwsRequest): ReadHead {
    this.#values = this.#fields.noValues();
    this.#fault = null;
    this.#isCloseRead = false;
    req.forEach(this.#take);
    const head = this.#fault ?? this.#assemble(req);
    return { head, isCloseRead: this.#isCloseRead };
  }

  #takeLine(name: string, value: string): void {
    const index = this.#indexes.get(name);
    if (index === undefined) return;
    if (index === this.#connection && this.#values[index] === null) {
      this.#isCloseRead = value.length === CLOSE_LENGTH;
    }
    this.#fault ??= this.#fields.add(this.#values, index, value);
  }

  #assemble(req: UwsRequest): ParsedHead | Malformed {
    const method = req.getCaseSensitiveMethod();
    if (!TOKEN.test(method)) return BAD_REQUEST_LINE;
    const path = req.getUrl();
    const query = req.getQuery();
    const target = query === undefined || query === '' ? path : `${path}?${query}`;
    if (target.length > TARGET_LENGTH_MAX) return TARGET_TOO_LONG;
    if (!VISIBLE.test(target)) return BAD_TARGET;
    return this.#fields.assemble(method, target, this.#values);
  }
}
