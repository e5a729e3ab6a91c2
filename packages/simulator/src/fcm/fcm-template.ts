/**
 * A message that FCM would accept, as a form in which the device may be exchanged: its token, or
 * the id of its installation. The messages of one notification differ only in that, and comparing
 * bytes is cheaper than parsing and checking them.
 */

import type { JsonObject } from '../../../std/src/json.ts';
import type { DeviceField, FcmMessage } from './fcm-message.ts';
import { isInstallationId } from './fcm-message.ts';

export interface FcmTemplate {
  /** Everything from the quote that ends the device's name. */
  readonly tail: Buffer;
  readonly validateOnly: boolean;
}

/** The beginnings of a body with a template, before the token or the installation's id. */
const HEADS: readonly (readonly [DeviceField, Buffer])[] = [
  ['token', Buffer.from('{"message":{"token":"')],
  ['fid', Buffer.from('{"message":{"fid":"')],
];

const QUOTE = '"'.charCodeAt(0);

/**
 * 1 for each byte that stands for itself in a JSON string and may stand in a token: visible ASCII
 * except the quote and the backslash. A table, because tokens are random, and the processor would
 * guess comparisons wrong.
 */
const IS_PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte > 0x20 && byte < 0x7f && byte !== QUOTE && byte !== 0x5c ? 1 : 0,
);

/**
 * The template of a valid message; undefined when its token cannot be exchanged without another
 * check.
 */
export function templateOf(
  body: Buffer,
  parsed: JsonObject,
  validateOnly: boolean,
): FcmTemplate | undefined {
  const head = HEADS.find(([, octets]) => isAt(body, 0, octets))?.[1];
  if (head === undefined) return undefined;
  const tokenEnd = body.indexOf(QUOTE, head.length);
  if (!isPlain(body, head.length, tokenEnd)) return undefined;
  // If a name occurs twice, the parser takes the last one, and this token may not be the one that
  // counts. A body that equals its own serialization has no name twice.
  if (JSON.stringify(parsed) !== body.toString()) return undefined;
  return { tail: Buffer.from(body.subarray(tokenEnd)), validateOnly };
}

/**
 * The device of a body that differs from the template only in its device; undefined for any other
 * body.
 */
export function targetIn(
  body: Buffer,
  { tail }: FcmTemplate,
): Pick<FcmMessage, 'kind' | 'target'> | undefined {
  const end = body.length - tail.length;
  if (!isAt(body, end, tail)) return undefined;
  for (const [kind, head] of HEADS) {
    if (end <= head.length || !isAt(body, 0, head) || !isPlain(body, head.length, end)) continue;
    const target = body.toString('latin1', head.length, end);
    return kind === 'fid' && !isInstallationId(target) ? undefined : { kind, target };
  }
  return undefined;
}

function isAt(body: Buffer, place: number, part: Buffer): boolean {
  const end = place + part.length;
  return place >= 0 && end <= body.length && body.compare(part, 0, part.length, place, end) === 0;
}

function isPlain(body: Buffer, start: number, end: number): boolean {
  let plain = 1;
  for (let index = start; index < end; index += 1) plain &= IS_PLAIN[body[index] ?? 0] ?? 0;
  return plain === 1;
}
