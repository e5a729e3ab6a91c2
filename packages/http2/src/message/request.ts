/**
 * Reads the field section of a request (RFC 9113, 8.3.1): pseudo-fields come first, each once, and
 * nothing may be malformed.
 */

import type { Field, FieldSection } from '../hpack/field.ts';
import { contentLengthOf, faultOfField } from './fields.ts';

/** A request without its content. */
export interface RequestHead {
  readonly method: string;
  readonly scheme: string;
  readonly path: string;
  /** `:authority`, or else `host`; empty when there is neither. */
  readonly authority: string;
  /** All but the pseudo-fields. Fields from the table are the same objects each time. */
  readonly fields: readonly Field[];
  /** -1: not given. */
  readonly contentLength: number;
}

/** Remembers which fields of a connection's table are valid: they come with every request. */
export class RequestReader {
  readonly #sound = new WeakSet<Field>();

  read({ fields, isTooLarge }: FieldSection): RequestHead | string {
    if (isTooLarge) return 'a field section too large';
    const pseudo = pseudoFieldsOf(fields);
    if (typeof pseudo === 'string') return pseudo;
    let contentLength = -1;
    let host = '';
    for (let i = pseudo.count; i < fields.length; i += 1) {
      const field = fields[i] as Field;
      const fault = this.#faultOf(field);
      if (fault !== null) return fault;
      if (field.name === 'host') host = field.value;
      if (field.name !== 'content-length') continue;
      const length = contentLengthOf(field.value, contentLength);
      if (length === null) return `content-length ${field.value}`;
      contentLength = length;
    }
    const { method, scheme, path, authority, count } = pseudo;
    if (method === null || scheme === null || path === null || path === '') {
      return 'without :method, :scheme or :path';
    }
    return {
      method,
      scheme,
      path,
      authority: authority ?? host,
      fields: fields.slice(count),
      contentLength,
    };
  }

  #faultOf(field: Field): string | null {
    if (this.#sound.has(field)) return null;
    if (field.name.startsWith(':')) return `${field.name} out of place`;
    const fault = faultOfField(field);
    // Only a field that is in the table comes again as the same object.
    if (fault === null && field.indexing === 'incremental') this.#sound.add(field);
    return fault;
  }
}

interface PseudoFields {
  method: string | null;
  scheme: string | null;
  authority: string | null;
  path: string | null;
  /** The number of pseudo-fields: they come first. */
  count: number;
}

type PseudoField = Exclude<keyof PseudoFields, 'count'>;

const PSEUDO_FIELDS: ReadonlyMap<string, PseudoField> = new Map([
  [':method', 'method'],
  [':scheme', 'scheme'],
  [':authority', 'authority'],
  [':path', 'path'],
]);

/** The pseudo-fields at the beginning. Unknown and repeated ones are malformed. */
function pseudoFieldsOf(fields: readonly Field[]): PseudoFields | string {
  const pseudo: PseudoFields = {
    method: null,
    scheme: null,
    authority: null,
    path: null,
    count: 0,
  };
  for (const { name, value } of fields) {
    if (!name.startsWith(':')) return pseudo;
    const key = PSEUDO_FIELDS.get(name);
    if (key === undefined || pseudo[key] !== null) return `${name} out of place`;
    pseudo[key] = value;
    pseudo.count += 1;
  }
  return pseudo;
}
