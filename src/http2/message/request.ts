/** Reads the field section of a request (RFC 9113, 8.3.1): the four pseudo-fields, first and once, and nothing malformed. */

import type { Field, FieldSection } from '../hpack/field.ts';
import { contentLengthOf, faultOfField } from './fields.ts';

/** A request without its content. */
export interface RequestHead {
  readonly method: string;
  readonly scheme: string;
  readonly path: string;
  /** `:authority`, or else `host`; empty when there is neither. */
  readonly authority: string;
  /** All but the pseudo-fields. Fields out of the table are the same objects each time. */
  readonly fields: readonly Field[];
  /** -1: not said. */
  readonly contentLength: number;
}

/** Remembers which fields of a connection's table are sound: they come with every request. */
export class RequestReader {
  readonly #sound = new WeakSet<Field>();

  /** The head, or what is malformed about it. */
  read({ fields, isTooLarge }: FieldSection): RequestHead | string {
    if (isTooLarge) return 'a field section too large';
    const pseudo = new Map<string, string>();
    let first = 0;
    for (; fields[first]?.name.startsWith(':'); first += 1) {
      const { name, value } = fields[first] as Field;
      if (!PSEUDO_FIELDS.has(name) || pseudo.has(name)) return `${name} out of place`;
      pseudo.set(name, value);
    }
    let contentLength = -1;
    let host = '';
    for (let i = first; i < fields.length; i += 1) {
      const field = fields[i] as Field;
      const fault = this.#faultOf(field);
      if (fault !== null) return fault;
      if (field.name === 'host') host = field.value;
      if (field.name !== 'content-length') continue;
      const length = contentLengthOf(field.value, contentLength);
      if (length === null) return `content-length ${field.value}`;
      contentLength = length;
    }
    const method = pseudo.get(':method');
    const scheme = pseudo.get(':scheme');
    const path = pseudo.get(':path');
    if (method === undefined || scheme === undefined || path === undefined || path === '') {
      return 'without :method, :scheme or :path';
    }
    const authority = pseudo.get(':authority') ?? host;
    return { method, scheme, path, authority, fields: fields.slice(first), contentLength };
  }

  #faultOf(field: Field): string | null {
    if (this.#sound.has(field)) return null;
    if (field.name.startsWith(':')) return `${field.name} out of place`;
    const fault = faultOfField(field);
    // Only what came from the table, or went into it, comes again as the same object.
    if (fault === null && field.indexing === 'incremental') this.#sound.add(field);
    return fault;
  }
}

const PSEUDO_FIELDS: ReadonlySet<string> = new Set([':method', ':scheme', ':authority', ':path']);
