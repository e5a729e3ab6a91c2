/**
 * The device observations of earlier sends in a group, as one value: offset (two octets), refusals,
 * environment, by rising offset.
 */

import type { ApnsEnvironment } from '../../domain/credential.ts';
import type { DeviceNote } from '../../domain/group-change.ts';

/** Octets of a note. The script that changes notes depends on it too. */
export const NOTE_OCTETS = 4;

const ENVIRONMENTS: readonly (ApnsEnvironment | null)[] = [null, 'production', 'sandbox'];
const REFUSALS_MAX = 255;

/**
 * The notes are in rising order of their offsets. An empty note is kept too: in an edit it deletes
 * the earlier note.
 */
export function encodeNotes(notes: readonly (readonly [number, DeviceNote])[]): Buffer {
  const octets = Buffer.allocUnsafe(notes.length * NOTE_OCTETS);
  let at = 0;
  for (const [offset, { refusals, environment }] of notes) {
    at = octets.writeUInt16BE(offset, at);
    at = octets.writeUInt8(Math.min(refusals, REFUSALS_MAX), at);
    at = octets.writeUInt8(ENVIRONMENTS.indexOf(environment), at);
  }
  return octets;
}

/** The notes of a value, by offset. */
export function decodeNotes(octets: Buffer): ReadonlyMap<number, DeviceNote> {
  const notes = new Map<number, DeviceNote>();
  for (let at = 0; at + NOTE_OCTETS <= octets.length; at += NOTE_OCTETS) {
    notes.set(octets.readUInt16BE(at), {
      refusals: octets.readUInt8(at + 2),
      environment: ENVIRONMENTS[octets.readUInt8(at + 3)] ?? null,
    });
  }
  return notes;
}
