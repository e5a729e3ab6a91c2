/**
 * Predicts the end of a request from the frames that its server has sent: the rules of RFC 9113,
 * 8.1, 8.2 and 8.3.2 once more, in the plainest way, without anything of packages/http2.
 */

import type { Pair } from '../blocks.ts';
import { Code } from '../frames.ts';
import type { End } from '../recorded-client.ts';
import type { Act } from './answer.ts';

/** A failure's words are not foretold. */
export type ExpectedEnd =
  | Extract<End, { readonly kind: 'answered' }>
  | { readonly kind: 'failed'; readonly isUnprocessed: boolean; readonly status: number | null };

export class AnswerModel {
  /** The end, once it has come: whatever the server sends later is of no effect. */
  end: ExpectedEnd | null = null;
  readonly #bodyOctetsMax: number;
  #head: readonly Pair[] | null = null;
  #body = Buffer.alloc(0);

  constructor(bodyOctetsMax: number) {
    this.#bodyOctetsMax = bodyOctetsMax;
  }

  receive(act: Act): void {
    if (this.end !== null) return;
    switch (act.kind) {
      case 'reset':
        this.fail(act.code === Code.REFUSED_STREAM);
        return;
      case 'content':
        this.#content(act.content, act.isEnd);
        return;
      case 'fields':
        if (this.#head === null) this.#first(act.fields, act.isEnd);
        else if (!act.isEnd || act.fields.some(isPseudo)) this.fail(false);
        else this.#complete(act.fields);
        return;
    }
  }

  /** It has failed, by no fault of the answer's perhaps. */
  fail(isUnprocessed: boolean): void {
    this.end ??= { kind: 'failed', isUnprocessed, status: this.#status };
  }

  get #status(): number | null {
    return this.#head === null ? null : Number(this.#head[0]?.[1]);
  }

  #first(fields: readonly Pair[], isEnd: boolean): void {
    const [first, ...others] = fields;
    const status = first?.[0] === ':status' && first[1].length === 3 ? Number(first[1]) : 0;
    const lengths = new Set(valuesOf(others, 'content-length'));
    const isMalformed =
      status < 100 ||
      status === 101 ||
      lengths.size > 1 ||
      others.some((field) => isPseudo(field) || field[0] === 'connection' || field[0] === 'Upper');
    if (isMalformed || (status < 200 && isEnd)) this.fail(false);
    else if (status >= 200) this.#head = fields;
    if (isEnd && this.end === null) this.#complete([]);
  }

  #content(content: Buffer, isEnd: boolean): void {
    if (this.#head === null) {
      this.fail(false);
      return;
    }
    this.#body = Buffer.concat([this.#body, content]);
    if (isEnd) this.#complete([]);
    else if (this.#body.length > this.#bodyOctetsMax) this.#answer([]);
  }

  #complete(trailers: readonly Pair[]): void {
    const head = this.#head ?? [];
    const [length] = valuesOf(head, 'content-length');
    const isSaidWrongly = length !== undefined && Number(length) !== this.#body.length;
    if (isSaidWrongly && this.#status !== 204) this.fail(false);
    else this.#answer(trailers);
  }

  #answer(trailers: readonly Pair[]): void {
    this.end = {
      kind: 'answered',
      status: this.#status ?? 0,
      fields: Object.fromEntries(this.#head?.slice(1) ?? []),
      body: this.#body.toString('latin1', 0, this.#bodyOctetsMax),
      isTruncated: this.#body.length > this.#bodyOctetsMax,
      trailers: Object.fromEntries(trailers),
    };
  }
}

const isPseudo = ([name]: Pair): boolean => name.startsWith(':');

const valuesOf = (fields: readonly Pair[], name: string): string[] =>
  fields.filter((field) => field[0] === name).map(([, value]) => value);
