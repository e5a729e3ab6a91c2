/** The requests of the loads that are written in JavaScript; wrk has a script for the same ones. */

import { randomBytes } from 'node:crypto';
import type { Kind, Target } from './load.ts';
import {
  CHANGED_PERCENT,
  KNOWN_DEVICES,
  knownDevice,
  UNCHANGED_PERCENT,
  UNCHANGING_DEVICES,
} from './load.ts';

/** Makes the requests of a kind, one after the other. */
export function requestsOf(
  target: Target,
  kind: Kind,
  tags: number,
): () => { path: string; body: string } {
  const reg = '/push-api/reg';
  const fresh = () => ({
    path: reg,
    body: bodyOf(target, randomBytes(32).toString('hex'), tags, 0),
  });
  if (kind === 'new') return fresh;
  const random = (from: number, to: number) => from + Math.floor(Math.random() * (to - from));
  const rotations = new Map<number, number>();
  return () => {
    const percent = kind === 'repeated' ? 0 : Math.random() * 100;
    if (percent >= UNCHANGED_PERCENT + CHANGED_PERCENT) return fresh();
    if (percent < UNCHANGED_PERCENT) {
      const device = knownDevice(random(0, UNCHANGING_DEVICES), tags);
      return { path: reg, body: bodyOf(target, device, tags, 0) };
    }
    const number = random(UNCHANGING_DEVICES, KNOWN_DEVICES);
    const count = target.tagIds.length;
    const rotation = ((rotations.get(number) ?? random(0, count)) + 1) % count;
    rotations.set(number, rotation);
    return {
      path: '/push-api/set',
      body: bodyOf(target, knownDevice(number, tags), tags, rotation),
    };
  };
}

/** A registration of the device with so many of the tags, in turn. */
export function bodyOf(
  { appId, platformId, tagIds }: Target,
  deviceId: string,
  tags: number,
  rotation: number,
): string {
  const tagId = Array.from(
    { length: tags },
    (_, place) => tagIds[(place + rotation) % tagIds.length],
  );
  return JSON.stringify({ appId, platformId, tagId, deviceId });
}
