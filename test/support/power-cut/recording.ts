/** A recording of what happened to the files of a folder: how it is written and read. */

import { readFileSync } from 'node:fs';

/** A change, or an fsync that has ended. `file`: a name for a file that is open. */
export type Change =
  | { readonly kind: 'open'; readonly file: string; readonly path: string }
  | { readonly kind: 'fsync'; readonly file: string }
  | { readonly kind: 'write'; readonly file: string; readonly position: number }
  | { readonly kind: 'truncate-open'; readonly file: string; readonly size: number }
  | { readonly kind: 'truncate'; readonly path: string; readonly size: number }
  | { readonly kind: 'create' | 'make-folder' | 'remove'; readonly path: string }
  | { readonly kind: 'rename'; readonly path: string; readonly to: string };

export interface Recorded {
  readonly change: Change;
  /** The octets that a write wrote. */
  readonly data: Buffer;
  /** Octets of the recording up to its end. */
  readonly end: number;
}

/** Two lengths: of the change, and of the data. */
const HEAD_OCTETS = 8;

/** To be appended at once, because several threads write into a recording. */
export function encode(change: Change, data: Uint8Array = Buffer.alloc(0)): Buffer {
  const text = Buffer.from(JSON.stringify(change));
  const head = Buffer.alloc(HEAD_OCTETS);
  head.writeUInt32BE(text.length, 0);
  head.writeUInt32BE(data.length, HEAD_OCTETS / 2);
  return Buffer.concat([head, text, data]);
}

export function readRecording(path: string): readonly Recorded[] {
  const octets = readFileSync(path);
  const recorded: Recorded[] = [];
  for (let at = 0; at < octets.length; ) {
    const textEnd = at + HEAD_OCTETS + octets.readUInt32BE(at);
    const end = textEnd + octets.readUInt32BE(at + HEAD_OCTETS / 2);
    const text = octets.toString('utf8', at + HEAD_OCTETS, textEnd);
    recorded.push({ change: JSON.parse(text) as Change, data: octets.subarray(textEnd, end), end });
    at = end;
  }
  return recorded;
}
