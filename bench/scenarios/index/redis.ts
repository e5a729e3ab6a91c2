/** A Redis for the bench, and what it says of itself: memory, and how long single commands held it. */

import type { Lifetime } from '../../../test/support/lifetime.ts';
import type { RedisServer } from '../../../test/support/redis-server.ts';
import { startRedis } from '../../../test/support/redis-server.ts';

export interface MeasuredRedis extends RedisServer {
  /** used_memory, the keys' and their dictionaries' included. */
  memoryOctets(): Promise<number>;
  /** Of every command since it was asked last, the longest. */
  heldMsMax(): Promise<number>;
}

const USED_MEMORY = /^used_memory:(\d+)/m;
/** Entries kept: more than a phase has commands that could be the longest. */
const SLOWLOG_LENGTH = '100000';
/** Microseconds from which on a command is noted: shorter ones are never the longest. */
const NOTED_FROM_MICROS = '200';

export async function startMeasuredRedis(stage: Lifetime): Promise<MeasuredRedis> {
  const server = await startRedis(stage, [
    '--slowlog-log-slower-than',
    NOTED_FROM_MICROS,
    '--slowlog-max-len',
    SLOWLOG_LENGTH,
  ]);
  return Object.assign(server, {
    async memoryOctets() {
      const info = await server.client.info('memory');
      return Number(USED_MEMORY.exec(info)?.[1]);
    },
    async heldMsMax() {
      const entries = (await server.client.slowlog('GET', SLOWLOG_LENGTH)) as [
        number,
        number,
        number,
      ][];
      await server.client.slowlog('RESET');
      return Math.max(0, ...entries.map(([, , micros]) => micros / 1_000));
    },
  });
}
