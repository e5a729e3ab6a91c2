/**
 * The cost of a loss: how fast the index is rebuilt, how soon a flushed Redis serves again, and
 * whom a kill -9 in the middle of a send misses.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { PLATFORMS } from '../../packages/std/src/platforms.ts';
import type { RaisedDeviceGroup } from '../../src/domain/device-group-change.ts';
import { systemClock } from '../../src/std/clock.ts';
import { listDeviceGroupsOf } from '../../src/tag-index/groups/list-device-groups.ts';
import { IndexName } from '../../src/tag-index/redis/index-name.ts';
import { groupHashKey, VERSION_FIELD } from '../../src/tag-index/redis/keys.ts';
import { accepted, deliveries, finalStatus, push, sumCloses } from '../../test/support/client.ts';
import type { Lifetime } from '../../test/support/lifetime.ts';
import { until } from '../../test/support/poll.ts';
import { seedDevices } from '../../test/support/seed.ts';
import type { Grounds } from '../grounds.ts';
import { prepareGrounds } from '../grounds.ts';
import { median } from '../median.ts';
import type { Result, Row, Scenario } from '../scenario.ts';

const DEVICES = 1_000_000;
const ROUNDS = 5;
/** The engine looks twice a second: the loss comes at any moment between two looks. */
const PHASE_MS_MAX = 500;
/** The share of the send at which its engine is killed. */
const KILLED_AT = 0.4;
const LIMIT_MS = 120_000;

export const recover: Scenario = {
  summary: `${DEVICES.toLocaleString('en')} devices on PostgreSQL and Redis: the index made anew, a flushed Redis, an engine killed in the middle of a send`,
  async run(stage: Lifetime): Promise<Result> {
    const grounds = await prepareGrounds(stage, (sql, { appId, tagIds }) =>
      seedDevices(sql, {
        appId,
        platformId: PLATFORMS.apns,
        tagIds: tagIds.slice(0, 1),
        count: DEVICES,
      }),
    );
    if (grounds === null) return { rows: [] };
    const rebuilds = await inRounds(() => measureRebuild(grounds));
    const flushes = await measureFlushes(grounds);
    const killed = await measureKill(grounds);
    const middle = (rows: readonly RecoverRow[], name: keyof Figures): number =>
      median(rows.map((row) => row[name] ?? Number.NaN));
    return {
      rows: [...rebuilds, ...flushes, killed],
      figures: {
        rebuildPerSecond: middle(rebuilds, 'devicesPerSecond'),
        noticedMs: middle(flushes, 'noticedMs'),
        servedMs: middle(flushes, 'doneMs'),
        misses: killed.misses,
        duplicates: killed.duplicates,
      },
    };
  },
};

interface Figures {
  /** From the loss until the first group was repaired. */
  readonly noticedMs: number | null;
  readonly doneMs: number;
  readonly devicesPerSecond: number | null;
  readonly misses: number | null;
  readonly duplicates: number | null;
}

interface RecoverRow extends Row, Figures {
  readonly what: string;
}

const NOTHING: Figures = {
  noticedMs: null,
  doneMs: Number.NaN,
  devicesPerSecond: null,
  misses: null,
  duplicates: null,
};

async function inRounds<T>(measure: () => Promise<T>): Promise<readonly T[]> {
  const measured: T[] = [];
  for (let round = 0; round < ROUNDS; round += 1) measured.push(await measure());
  return measured;
}

/** Rebuilds like an operator: by a command, its start and its connections included. */
async function measureRebuild({ command }: Grounds): Promise<RecoverRow> {
  const startMs = performance.now();
  await command(['index', 'rebuild']);
  const doneMs = performance.now() - startMs;
  const devicesPerSecond = Math.round((DEVICES / doneMs) * 1_000);
  return { what: 'tagcast index rebuild', ...NOTHING, doneMs, devicesPerSecond };
}

/**
 * FLUSHALL beside a running engine. Until all groups are current again, tags are resolved from the
 * database.
 */
async function measureFlushes(grounds: Grounds): Promise<readonly RecoverRow[]> {
  const { sql, redis, demo, simulator } = grounds;
  const engine = await grounds.start('redis', simulator.environment);
  const scope = { appId: demo.appId, platformId: PLATFORMS.apns };
  const groups = await listDeviceGroupsOf(sql, scope);
  const { current } = await IndexName.read(sql, systemClock);
  const currentGroups = async (): Promise<number> => {
    const versionOf = (group: RaisedDeviceGroup) =>
      redis.client.hget(groupHashKey(current, group), VERSION_FIELD);
    const versions = await Promise.all(groups.map(versionOf));
    return versions.filter((version, at) => Number(version) === groups[at]?.version).length;
  };
  const rows = await inRounds(async () => {
    await sleep(Math.random() * PHASE_MS_MAX);
    if ((await currentGroups()) !== groups.length) throw new Error('the index is not current');
    const startMs = performance.now();
    const atLeast = (count: number): Promise<number> =>
      until(
        `${count} groups are current`,
        async () => ((await currentGroups()) >= count ? performance.now() - startMs : null),
        LIMIT_MS,
      );
    await redis.client.flushall();
    const noticedMs = await atLeast(1);
    const doneMs = await atLeast(groups.length);
    const devicesPerSecond = Math.round((DEVICES / (doneMs - noticedMs)) * 1_000);
    return { what: 'FLUSHALL', ...NOTHING, noticedMs, doneMs, devicesPerSecond };
  });
  await engine.end('SIGTERM');
  return rows;
}

/** The engine that is started after the kill waits until the dead one's leases have run out. */
async function measureKill(grounds: Grounds): Promise<RecoverRow> {
  const { demo, simulator } = grounds;
  const victim = await grounds.start('redis', simulator.environment);
  const job = await push(victim.baseUrl, demo, demo.tagIds.slice(0, 1));
  const killedAt = DEVICES * KILLED_AT;
  await until(
    `${killedAt} sends`,
    async () => ((await accepted(simulator.controlUrl, 'apns')) >= killedAt ? true : null),
    LIMIT_MS,
  );
  await victim.end('SIGKILL');
  const startMs = performance.now();
  const engine = await grounds.start('redis', simulator.environment);
  const rows = await finalStatus(engine.baseUrl, demo, job, LIMIT_MS);
  const doneMs = performance.now() - startMs;
  await engine.end('SIGTERM');
  if (!rows.every(sumCloses)) throw new Error(`the sums do not close: ${JSON.stringify(rows)}`);
  const { tokens } = await deliveries(simulator.controlUrl, 'apns');
  const duplicates = (await accepted(simulator.controlUrl, 'apns')) - tokens;
  return {
    what: 'kill -9 in the middle of a send',
    ...NOTHING,
    doneMs,
    misses: DEVICES - tokens,
    duplicates,
  };
}
