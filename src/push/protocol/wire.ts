/**
 * What all threads of a process hear, besides the tasks that one of them gets: the main thread has
 * connections warmed, a worker tells that a provider's circuit has opened or closed. Nothing here
 * is needed for a send to be right.
 */

import { BroadcastChannel } from 'node:worker_threads';
import type { Authority } from './task.ts';

export type WireWord =
  /** A scheduled send of this scope is near: so many connections are to be open. */
  | {
      readonly kind: 'warm';
      readonly scopeKey: string;
      readonly authority: Authority;
      readonly connections: number;
    }
  /** As one worker sees it. */
  | {
      readonly kind: 'circuit';
      readonly threadId: number;
      readonly scopeKeys: readonly string[];
      /** Null: it is closed again. */
      readonly openFor: string | null;
    };

export interface Wire {
  say(word: WireWord): void;
  close(): void;
}

/** `name`: of one fan-out; there may be several in a process. It keeps no thread alive. */
export function openWire(name: string, hear: (word: WireWord) => void): Wire {
  const channel = new BroadcastChannel(name);
  channel.onmessage = (event) => hear((event as { readonly data: WireWord }).data);
  channel.unref();
  return {
    say: (word) => channel.postMessage(word),
    close: () => channel.close(),
  };
}
