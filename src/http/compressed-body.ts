/** Bodies that their sender compressed, which nothing here takes. */

import { isUtf8 } from 'node:buffer';

const COMPRESSION = /\b(?:x-)?(gzip|deflate|br|zstd|compress)\b/i;

/** Null: none, or a proxy has undone it and left the header: compressed octets are hardly UTF-8. */
export function compressionOf(contentEncoding: string, body: Buffer): string | null {
  const [, name] = COMPRESSION.exec(contentEncoding) ?? [];
  return name === undefined || isUtf8(body) ? null : name.toLowerCase();
}
