/** A group's device observations as one value: offset (two octets), refusals, environment. */

import type { ApnsEnvironment } from '../../domain/device.ts';
import type { DeviceHistory } from '../../domain/device-group-change.ts';

/** Octets of a history. The script that changes histories depends on it too. */
export const HISTORY_OCTETS = 4;

const ENVIRONMENTS: readonly (ApnsEnvironment | null)[] = [null, 'production', 'sandbox'];
const REFUSALS_MAX = 255;

/** In rising order of their offsets. In an edit, an empty history deletes the earlier one. */
export function encodeHistories(histories: readonly (readonly [number, DeviceHistory])[]): Buffer {
  const octets = Buffer.allocUnsafe(histories.length * HISTORY_OCTETS);
  let at = 0;
  for (const [offset, { refusals, environment }] of histories) {
    at = octets.writeUInt16BE(offset, at);
    at = octets.writeUInt8(Math.min(refusals, REFUSALS_MAX), at);
    at = octets.writeUInt8(ENVIRONMENTS.indexOf(environment), at);
  }
  return octets;
}

/** The histories of a value, by offset. */
export function decodeHistories(octets: Buffer): ReadonlyMap<number, DeviceHistory> {
  const histories = new Map<number, DeviceHistory>();
  for (let at = 0; at + HISTORY_OCTETS <= octets.length; at += HISTORY_OCTETS) {
    histories.set(octets.readUInt16BE(at), {
      refusals: octets.readUInt8(at + 2),
      environment: ENVIRONMENTS[octets.readUInt8(at + 3)] ?? null,
    });
  }
  return histories;
}
