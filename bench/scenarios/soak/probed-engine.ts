/** An engine that can be asked what each of its threads holds after a collection. */

import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Lifetime } from '../../../test/support/lifetime.ts';
import type { EngineProcess } from '../../../test/support/processes.ts';
import { startEngine } from '../../../test/support/processes.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { processMemoryMb } from '../../processes.ts';
import type { ThreadSample } from './probe.ts';

/** The flags of `npm start`, and the probe. */
const flagsWith = (socketPath: string): readonly string[] => {
  const probe = new URL('./probe.js', import.meta.url);
  probe.searchParams.set('socket', socketPath);
  return ['--enable-source-maps', '--expose-gc', `--import=${probe.href}`];
};

const THREADS: readonly (readonly [suffix: string, name: string])[] = [
  ['main.js', 'main'],
  [join('embedded', 'thread-entry.js'), 'database'],
  [join('simulator', 'thread-entry.js'), 'simulator'],
];

export interface ThreadHeap {
  readonly heapMb: number;
  readonly externalMb: number;
}

export interface ProbedEngine {
  readonly process: EngineProcess;
  /** Keyed by the thread's name in the engine's metrics. */
  threads(): Promise<ReadonlyMap<string, ThreadHeap>>;
  residentMb(): number;
  descriptors(): number;
  /** Series of all of its metrics. */
  series(): Promise<number>;
}

/** The environment that `npm start` sets (docs/operate/configure.md, "Memory"). */
const LIKE_NPM_START = { MALLOC_ARENA_MAX: '2' };

export async function startProbedEngine(
  stage: Lifetime,
  environment: Readonly<Record<string, string>>,
): Promise<ProbedEngine> {
  const socketPath = join(temporaryDirectory(stage), 'probe.sock');
  const settings = { ...LIKE_NPM_START, ...environment };
  const engine = await startEngine(stage, temporaryDirectory(stage), settings, {
    nodeFlags: flagsWith(socketPath),
  });
  const pid = engine.child.pid ?? 0;
  return {
    process: engine,
    threads: async () => namesOf(JSON.parse(await text(connect(socketPath))) as ThreadSample[]),
    residentMb: () => processMemoryMb(pid, 'VmRSS'),
    descriptors: () => readdirSync(`/proc/${pid}/fd`).length,
    async series() {
      const metrics = await (await fetch(`${engine.baseUrl}/metrics`)).text();
      return metrics.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
    },
  };
}

function namesOf(samples: readonly ThreadSample[]): ReadonlyMap<string, ThreadHeap> {
  const heaps = new Map<string, ThreadHeap>();
  let workers = 0;
  for (const sample of [...samples].sort((a, b) => a.threadId - b.threadId)) {
    const known = THREADS.find(([suffix]) => sample.file.endsWith(suffix));
    if (known === undefined) workers += 1;
    heaps.set(known?.[1] ?? `worker-${workers}`, {
      heapMb: sample.heapBytes / 2 ** 20,
      externalMb: sample.externalBytes / 2 ** 20,
    });
  }
  return heaps;
}
