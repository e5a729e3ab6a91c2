/** The tag index of the engine, and what its other parts ask of it. */

import type { Logger } from 'pino';
import type { SystemState } from '../../api/open/system.ts';
import type { Store } from '../../database/store.ts';
import { SqlTagIndex } from '../../tag-index/sql/sql-tag-index.ts';
import type { IndexFeed, TagIndex } from '../../tag-index/tag-index.ts';
import { NO_FEED } from '../../tag-index/tag-index.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Config } from '../config.ts';
import { redisAddressOf } from '../config.ts';

export interface OpenTagIndex {
  readonly index: TagIndex;
  readonly feed: IndexFeed;
  /** Whether Redis answers; null: there is none. */
  readonly isReachable: (() => boolean) | null;
  /** Null: there is none. */
  reading(): SystemState['index'];
  stop(): Promise<void>;
}

/** Opens the index in Redis if one is configured, else in the database. */
export async function openTagIndex(
  config: Config,
  { sql }: Store,
  log: Logger,
  metrics: Metrics,
): Promise<OpenTagIndex> {
  const address = redisAddressOf(config);
  if (address === null) {
    return {
      index: new SqlTagIndex(sql),
      feed: NO_FEED,
      isReachable: null,
      reading: () => null,
      stop: () => Promise.resolve(),
    };
  }
  const { openIndexKeeper } = await import('../../tag-index/redis/open.ts');
  const keeper = await openIndexKeeper(address, sql, log);
  metrics.watchIndex(() => keeper.reading);
  const { index, feed } = keeper;
  return {
    index,
    feed,
    isReachable: () => keeper.reading.isReachable,
    reading: () => keeper.reading,
    stop: () => keeper.stop(),
  };
}
