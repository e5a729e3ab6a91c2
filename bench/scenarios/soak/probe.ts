/**
 * Loaded into every thread of an engine by `--import`, with `--expose-gc`: collects each thread's
 * garbage when somebody asks, and answers what is left. The main thread is asked, on the Unix
 * socket that this module's address names (`probe.js?socket=…`), and asks the others.
 */

import { createServer } from 'node:net';
import { BroadcastChannel, isMainThread, threadId } from 'node:worker_threads';

/** The heap of a thread after a collection. */
export interface ThreadSample {
  readonly threadId: number;
  /** The file that it runs: its name, for threads of their own have none in Node 20. */
  readonly file: string;
  readonly heapBytes: number;
  readonly externalBytes: number;
}

type Word =
  | { readonly kind: 'collect' }
  | { readonly kind: 'sample'; readonly sample: ThreadSample };

/** Who has not answered so long after the one before is not there. */
const QUIET_MS = 1_500;

const channel = new BroadcastChannel('tagcast-bench-probe');
channel.unref();
channel.onmessage = (event) => hear((event as { readonly data: Word }).data);

/** Takes the samples of the other threads; there while somebody asks. */
let take: ((sample: ThreadSample) => void) | null = null;

function hear(word: Word): void {
  if (word.kind === 'collect') say({ kind: 'sample', sample: sampleOfThis() });
  else take?.(word.sample);
}

function say(word: Word): void {
  channel.postMessage(word);
}

function sampleOfThis(): ThreadSample {
  const collect = globalThis.gc;
  if (collect === undefined) throw new Error('the probe needs --expose-gc');
  // The second one frees the objects that the first one finalises.
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  const file = process.argv[1] ?? '';
  return { threadId, file, heapBytes: heapUsed, externalBytes: external };
}

function samplesOfAll(): Promise<readonly ThreadSample[]> {
  return new Promise((resolve) => {
    const samples: ThreadSample[] = [];
    const end = (): void => {
      take = null;
      resolve(samples);
    };
    const timer = setTimeout(end, QUIET_MS);
    take = (sample) => {
      samples.push(sample);
      timer.refresh();
    };
    say({ kind: 'collect' });
    take(sampleOfThis());
  });
}

const path = new URL(import.meta.url).searchParams.get('socket');
if (isMainThread && path !== null) {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    void samplesOfAll().then((samples) => socket.end(JSON.stringify(samples)));
  });
  server.listen(path).unref();
}
