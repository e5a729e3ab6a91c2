/**
 * The broadcast to all threads of a process: connections to open ahead, circuit breakers that have
 * switched. No send needs it to be correct.
 */

import { BroadcastChannel } from 'node:worker_threads';
import type { AuthorizedCredential } from './task.ts';

export type BroadcastMessage =
  /** A scheduled send of this scope is near: open so many connections. */
  | {
      readonly kind: 'warm';
      readonly scopeKey: string;
      readonly authorized: AuthorizedCredential;
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

export interface Broadcast {
  send(message: BroadcastMessage): void;
  close(): void;
}

/** `name`: of one fan-out, because a process may have several. It keeps no thread alive. */
export function openBroadcast(name: string, hear: (message: BroadcastMessage) => void): Broadcast {
  const channel = new BroadcastChannel(name);
  channel.onmessage = (event) => hear((event as { readonly data: BroadcastMessage }).data);
  channel.unref();
  return {
    send: (message) => channel.postMessage(message),
    close: () => channel.close(),
  };
}
