/** The meaning of a request for a peer, however it was written. */

import type { RequestForm } from '../../../packages/http2/src/client/request-form.ts';
import type { Pair } from './blocks.ts';

export interface Meant {
  readonly fields: readonly Pair[];
  readonly content: Buffer;
}

export function meant(form: RequestForm, value: string, own = Buffer.alloc(0)): Meant {
  const { method, scheme, authority, path, fields, contentBefore, contentAfter, valueIn } = form;
  const [inPath, inContent] = valueIn === 'path' ? [value, ''] : ['', value];
  return {
    fields: [
      [':method', method],
      [':scheme', scheme],
      [':authority', authority],
      [':path', path + inPath],
      ...fields.map(({ name, value }): Pair => [name, value]),
    ],
    content: Buffer.concat([contentBefore, Buffer.from(inContent), contentAfter, own]),
  };
}
