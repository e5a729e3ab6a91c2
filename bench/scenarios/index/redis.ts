/**
 * A Redis for the bench, and what it says of itself: memory, and how long single commands held it.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Lifetime } from '../../../test/support/lifetime.ts';
import type { RedisServer } from '../../../test/support/redis-server.ts';
import { startRedis } from '../../../test/support/redis-server.ts';

export interface MeasuredRedis extends RedisServer {
  /**
   * used_memory, the keys' and their dictionaries' included; without what clients' buffers and the
   * slow log hold at the moment.
   */
  memoryOctets(): Promise<number>;
  /** The longest of all commands since it was asked last. */
  heldMsMax(): Promise<number>;
}

const USED_MEMORY = /^used_memory:(\d+)/m;
const BUFFERS = /^mem_clients_normal:(\d+)/m;
/**
 * Buffers shrink, and dictionaries move to larger ones, in the background, some of them after two
 * seconds.
 */
const READ_EVERY_MS = 500;
const SAME_READINGS = 5;
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
      // It keeps the arguments of what it notes: a loaded group's are a few kilobytes.
      await server.client.slowlog('RESET');
      const read = async (): Promise<number> => {
        const info = await server.client.info('memory');
        return Number(USED_MEMORY.exec(info)?.[1]) - Number(BUFFERS.exec(info)?.[1]);
      };
      let octets = await read();
      for (let same = 0; same < SAME_READINGS; ) {
        await sleep(READ_EVERY_MS);
        const next = await read();
        same = next === octets ? same + 1 : 0;
        octets = next;
      }
      return octets;
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
