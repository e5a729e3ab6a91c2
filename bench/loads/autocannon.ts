/** autocannon, the load generator that Node's users have at hand; in this process. */

import { randomBytes } from 'node:crypto';
import autocannon from 'autocannon';
import type { Kind, Load, Target } from './load.ts';
import {
  CHANGED_PERCENT,
  KNOWN_DEVICES,
  knownDevice,
  UNCHANGED_PERCENT,
  UNCHANGING_DEVICES,
} from './load.ts';

export const autocannonLoad: Load = {
  name: 'autocannon',
  async run(target, { connections, seconds, kind, tags }) {
    const next = requestsOf(target, kind, tags);
    const result = await autocannon({
      ...optionsFor(target),
      connections,
      duration: seconds,
      requests: [{ setupRequest: (request) => ({ ...request, ...next() }) }],
    });
    const answered = result['2xx'];
    return {
      perSecond: answered / result.duration,
      answered,
      p50Ms: result.latency.p50,
      p99Ms: result.latency.p99,
      failures: result.non2xx + result.errors,
    };
  },
};

/** Registers every device that is known with so many tags, each once. */
export async function registerKnownDevices(target: Target, tags: number): Promise<void> {
  let number = 0;
  const result = await autocannon({
    ...optionsFor(target),
    connections: 128,
    amount: KNOWN_DEVICES,
    requests: [
      {
        setupRequest: (request) => {
          const body = bodyOf(target, knownDevice(number, tags), tags, 0);
          number += 1;
          return { ...request, path: '/push-api/reg', body };
        },
      },
    ],
  });
  if (result['2xx'] !== KNOWN_DEVICES) throw new Error('not every known device was registered');
}

const optionsFor = ({ baseUrl, token }: Target) => ({
  url: baseUrl,
  method: 'POST' as const,
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
});

/** Makes the requests of a kind, one after the other. */
function requestsOf(
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

/** So many of the tags, in turn. */
function bodyOf(
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
