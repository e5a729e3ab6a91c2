/** Opens the tag index in Redis: to read in any thread, to keep it current in the main one. */

import type { Logger } from 'pino';
import type { Sql, SqlPool } from '../../database/sql.ts';
import type { RaisedDeviceGroup } from '../../domain/device-group-change.ts';
import { Bell } from '../../std/bell.ts';
import { systemClock } from '../../std/clock.ts';
import { SettingFault } from '../../std/setting-fault.ts';
import { keepLineage } from '../groups/lineage.ts';
import type { IndexReading } from '../metrics.ts';
import { ResolveMeter } from '../resolve-meter.ts';
import { SqlTagIndex } from '../sql/sql-tag-index.ts';
import type { IndexFeed, TagIndex } from '../tag-index.ts';
import type { RedisAddress, RedisClient } from './connect.ts';
import { connectRedis, settingOf } from './connect.ts';
import { RedisFeed } from './feed.ts';
import { IndexName } from './index-name.ts';
import type { HistoryOptions } from './leave-if-behind.ts';
import { leaveIfBehind } from './leave-if-behind.ts';
import { RedisBreaker } from './redis-breaker.ts';
import { RedisTagIndex } from './redis-tag-index.ts';
import { Repairs } from './repairs.ts';
import { checkSettings } from './settings-check.ts';
import { Sweep } from './sweep.ts';

/** Without a connection by then the engine starts all the same, and sends from the database. */
const READY_MS_MAX = 3_000;

export interface IndexKeeper {
  readonly index: TagIndex;
  readonly feed: IndexFeed;
  readonly reading: IndexReading;
  stop(): Promise<void>;
}

/** For the life of a thread. `sql` answers when Redis cannot; `meter` counts who resolved. */
export async function openIndexReader(
  address: RedisAddress,
  sql: Sql,
  log: Logger,
  meter: ResolveMeter,
): Promise<TagIndex> {
  const parts = await openParts(address, sql, log);
  return indexOf(parts, sql, meter);
}

/** Also feeds it, and compares it with the database. SettingFault: Redis would make it wrong. */
export async function openIndexKeeper(
  address: RedisAddress,
  sql: SqlPool,
  log: Logger,
): Promise<IndexKeeper> {
  await keepLineage(sql, { isStarting: true });
  const parts = await openParts(address, sql, log);
  const { client, breaker, name } = parts;
  // For a Redis that was away before, or was restarted with other settings.
  client.on('ready', () => void reviewSettings(client, log));
  try {
    await refuseUnfit(address, client, log);
  } catch (error) {
    client.disconnect();
    throw error;
  }
  const repairs = new Repairs({ client, name, breaker, sql, log });
  const feed = new RedisFeed({
    client,
    name,
    breaker,
    clock: systemClock,
    onMissed: (groups) => repairs.ask(groups),
    onAhead: (indexName, seen) => leaveLogged({ name, sql, log }, indexName, seen),
  });
  const sweep = new Sweep({ client, name, breaker, sql, repairs, log });
  await sweep.start();
  return {
    // Its timings are not read: it counts devices, and sends nothing.
    index: indexOf(parts, sql, new ResolveMeter()),
    feed,
    get reading() {
      return {
        isReachable: !breaker.isOpen,
        groupsWaiting: repairs.pending,
        groupsRepaired: repairs.repaired,
      };
    },
    async stop() {
      await sweep.stop();
      await repairs.stop();
      client.disconnect();
    },
  };
}

const indexOf = (parts: Parts, sql: Sql, meter: ResolveMeter): TagIndex => {
  const database = new SqlTagIndex(sql, meter);
  return new RedisTagIndex({ ...parts, sql, database, clock: systemClock, meter });
};

interface Parts {
  readonly client: RedisClient;
  readonly breaker: RedisBreaker;
  readonly name: IndexName;
}

async function openParts(address: RedisAddress, sql: Sql, log: Logger): Promise<Parts> {
  const name = await IndexName.read(sql, systemClock);
  let lastError: Error | null = null;
  const client = connectRedis(address, (error) => {
    lastError = error;
  });
  const breaker = new RedisBreaker({
    clock: systemClock,
    onChange: (error) => {
      if (error === null) log.info('Redis answers again: tags are resolved from it');
      else {
        log.warn(
          { err: lastError ?? error },
          'Redis does not answer: tags are resolved from the database',
        );
      }
    },
    onRefusal: (error) =>
      log.warn(
        { err: error },
        'Redis refuses to write: groups that change are resolved from the database',
      ),
  });
  await untilReady(client);
  return { client, breaker, name };
}

async function untilReady(client: RedisClient): Promise<void> {
  if (client.status === 'ready') return;
  const bell = new Bell();
  client.once('ready', () => bell.ring());
  await bell.wait(READY_MS_MAX);
}

async function refuseUnfit(address: RedisAddress, client: RedisClient, log: Logger): Promise<void> {
  if (client.status !== 'ready') {
    log.warn('Redis cannot be reached: tags are resolved from the database until it can');
    return;
  }
  const { fatal, costly } = await checkSettings(client);
  if (fatal.length > 0) throw new SettingFault(`${settingOf(address)}: ${fatal.join(' ')}`);
  for (const sentence of costly) log.warn(sentence);
}

/** Too late to refuse this Redis: what it evicts costs speed and no device. */
async function reviewSettings(client: RedisClient, log: Logger): Promise<void> {
  const { fatal, costly } = await checkSettings(client);
  for (const sentence of fatal) log.error(sentence);
  for (const sentence of costly) log.warn(sentence);
}

/** The change is committed: its caller must not fail with this check. */
async function leaveLogged(
  options: HistoryOptions,
  indexName: string,
  seen: readonly RaisedDeviceGroup[],
): Promise<void> {
  try {
    await leaveIfBehind(options, indexName, seen);
  } catch (error) {
    options.log.warn({ err: error }, 'the index could not be compared with the database');
  }
}
