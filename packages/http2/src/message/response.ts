/**
 * Reads the field section of a response (RFC 9113, 8.3.2): one `:status`, which comes first, and
 * nothing malformed.
 */

import type { Field, FieldSection } from '../hpack/field.ts';
import { contentLengthOf, faultOfField } from './fields.ts';

/** A response without its content. */
export interface ResponseHead {
  readonly status: number;
  /** All but `:status`. */
  readonly fields: readonly Field[];
  /** -1: not given. */
  readonly contentLength: number;
}

const STATUS = /^[1-9]\d\d$/;
/** Statuses without content, even if fields say otherwise (RFC 9110, 15.3.5 and 15.4.5). */
const WITHOUT_CONTENT: ReadonlySet<number> = new Set([204, 304]);

/**
 * Remembers the last section: most answers are the same as the one before, and the decoder returns
 * the same object.
 */
export class ResponseReader {
  #section: FieldSection | null = null;
  #head: ResponseHead | string = '';

  read(section: FieldSection): ResponseHead | string {
    if (section !== this.#section) {
      this.#section = section;
      this.#head = responseHead(section);
    }
    return this.#head;
  }
}

function responseHead({ fields, isTooLarge }: FieldSection): ResponseHead | string {
  if (isTooLarge) return 'a field section too large';
  const [first, ...others] = fields;
  if (first?.name !== ':status' || !STATUS.test(first.value)) return 'no :status';
  const status = Number(first.value);
  // 8.6: HTTP/2 has no upgrade.
  if (status === 101) return 'status 101';
  let contentLength = -1;
  for (const field of others) {
    const fault = field.name.startsWith(':') ? `${field.name} out of place` : faultOfField(field);
    if (fault !== null) return fault;
    if (field.name !== 'content-length') continue;
    const length = contentLengthOf(field.value, contentLength);
    if (length === null) return `content-length ${field.value}`;
    contentLength = length;
  }
  return {
    status,
    fields: others,
    contentLength: WITHOUT_CONTENT.has(status) ? -1 : contentLength,
  };
}
