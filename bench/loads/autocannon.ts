/** autocannon, the load generator that Node's users have at hand; in this process. */

import autocannon from 'autocannon';
import type { Load, Target } from './load.ts';
import { KNOWN_DEVICES, knownDevice } from './load.ts';
import { bodyOf, requestsOf } from './registrations.ts';

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
      resumedShare: null,
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
