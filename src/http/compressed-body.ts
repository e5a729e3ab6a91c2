/** Bodies that their sender compressed, which nothing here takes. */

import { isUtf8 } from 'node:buffer';

const COMPRESSION = /\b(?:x-)?(gzip|deflate|br|zstd|compress)\b/i;

/**
 * The compression of a body by its Content-Encoding. Null: none, or a proxy has undone it and left
 * the header. Compressed octets are never UTF-8, but by a rare chance in a very short body.
 */
export function compressionOf(contentEncoding: string, body: Buffer): string | null {
  const [, name] = COMPRESSION.exec(contentEncoding) ?? [];
  return name === undefined || isUtf8(body) ? null : name.toLowerCase();
}
