/**
 * Servers that the bench compares the service with, each in a process of its own, so that its CPU
 * and memory are its own.
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Lifetime } from '../../test/support/lifetime.ts';
import type { PushTask } from './push-entry.ts';

/** PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** The task of a server on its start. */
export interface BaselineTask {
  readonly databaseUrl: string;
  /** Null: no Redis, and no `SADD`. */
  readonly redisUrl: string | null;
  readonly appId: number;
  readonly platformId: number;
  readonly tagIds: readonly number[];
  readonly token: string;
  /** Null: clear text. */
  readonly certificate: Certificate | null;
}

export interface Baseline {
  readonly baseUrl: string;
  readonly pid: number;
}

/** Starts `<name>-entry.js` and waits for its port. */
export async function startBaseline(
  stage: Lifetime,
  name: 'register' | 'front' | 'push' | 'least-push',
  task: BaselineTask | PushTask | null,
  scheme: 'http' | 'https' = 'http',
): Promise<Baseline> {
  const child = fork(join(import.meta.dirname, `${name}-entry.js`));
  stage.teardown(() => child.kill('SIGKILL'));
  child.send({ task });
  const [port] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw new Error(`the baseline ${name} did not start`);
    }),
  ]);
  return { baseUrl: `${scheme}://127.0.0.1:${port}`, pid: child.pid ?? 0 };
}
