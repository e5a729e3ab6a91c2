/**
 * The broadcast to all threads of a process. The main thread asks for connections to be opened in
 * advance; a worker tells that a circuit breaker of its own has opened or closed. No send needs it
 * to be correct.
 */

import { BroadcastChannel } from 'node:worker_threads';
import type { Authority } from './task.ts';

export type WireWord =
  /** A scheduled send of this scope is near: open so many connections. */
  | {
      readonly kind: 'warm';
      readonly scopeKey: string;
      readonly authority: Authority;
      readonly connections: number;
    }
  /** A circuit breaker of one worker. */
  | {
      readonly kind: 'circuit';
      readonly threadId: number;
      readonly scopeKeys: readonly string[];
      /** Why it opened. Null: it is closed again. */
      readonly openFor: string | null;
    };

export interface Wire {
  say(word: WireWord): void;
  close(): void;
}

/** `name`: of one fan-out, because a process may have several. It keeps no thread alive. */
export function openWire(name: string, hear: (word: WireWord) => void): Wire {
  const channel = new BroadcastChannel(name);
  channel.onmessage = (event) => hear((event as { readonly data: WireWord }).data);
  channel.unref();
  return {
    say: (word) => channel.postMessage(word),
    close: () => channel.close(),
  };
}
