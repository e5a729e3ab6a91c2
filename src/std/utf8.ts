/** Reads octets as text. Others than UTF-8 are a fault: Node.js would lose them to U+FFFD. */

import { isUtf8 } from 'node:buffer';
import { withoutMark } from '../../packages/std/src/json.ts';

export const REPLACEMENT = '\u{fffd}';

type Decoded =
  | { readonly ok: true; readonly text: string }
  /** `before`: the text up to the first octet that is wrong. `hint`: what it may be instead. */
  | { readonly ok: false; readonly before: string; readonly hint: string };

/** The text of octets, without a byte order mark. */
export function decodeUtf8(octets: Buffer): Decoded {
  const text = octets.toString('utf8');
  if (isUtf8(octets)) return { ok: true, text: withoutMark(text) };
  const before = withoutMark(octets.toString('utf8', 0, faultAt(octets, Buffer.from(text))));
  return { ok: false, before, hint: hintOf(octets) };
}

/** The length of a sequence: a wrong one may begin so many octets before it shows. */
const SEQUENCE_OCTETS_MAX = 4;

/** `again`: the octets with U+FFFD in place of what is wrong. */
function faultAt(octets: Buffer, again: Buffer): number {
  let differs = 0;
  while (octets[differs] === again[differs] && differs < octets.length) differs += 1;
  for (let at = differs; at > differs - SEQUENCE_OCTETS_MAX && at > 0; at -= 1) {
    if (isUtf8(octets.subarray(0, at))) return at;
  }
  return Math.max(0, differs - SEQUENCE_OCTETS_MAX);
}

/** Beginnings of files that are no text in UTF-8. */
const BEGINNINGS: readonly (readonly [octets: readonly number[], hint: string])[] = [
  [[0xff, 0xfe], 'it is UTF-16'],
  [[0xfe, 0xff], 'it is UTF-16'],
  [[0x1f, 0x8b], 'it is compressed with gzip'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'it is compressed with zstd'],
  [[0x78, 0x9c], 'it is compressed with deflate'],
  [[0x78, 0xda], 'it is compressed with deflate'],
];

const hintOf = (octets: Buffer): string =>
  BEGINNINGS.find(([begin]) => begin.every((octet, at) => octets[at] === octet))?.[1] ??
  'another encoding, such as Windows-1252, has another octet there';
