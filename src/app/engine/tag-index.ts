/** The tag index of the engine, and what its other parts ask of it. */

import type { SystemState } from '../../api/open/system.ts';
import { redisMetrics } from '../../tag-index/metrics.ts';
import { SqlTagIndex } from '../../tag-index/sql/sql-tag-index.ts';
import type { IndexFeed, TagIndex } from '../../tag-index/tag-index.ts';
import { NO_FEED } from '../../tag-index/tag-index.ts';
import type { Metric } from '../../telemetry/metric.ts';
import { redisAddressOf } from '../config.ts';
import type { EngineParts } from './parts.ts';

export interface OpenTagIndex {
  readonly index: TagIndex;
  readonly feed: IndexFeed;
  /** Whether Redis answers; null: there is none. */
  readonly isReachable: (() => boolean) | null;
  reading(): SystemState['index'];
  readonly metrics: readonly Metric[];
  stop(): Promise<void>;
}

/** Opens the index in Redis if one is configured, else in the database. */
export async function openTagIndex({
  config,
  store: { sql },
  log,
}: EngineParts): Promise<OpenTagIndex> {
  const address = redisAddressOf(config);
  if (address === null) {
    return {
      index: new SqlTagIndex(sql),
      feed: NO_FEED,
      isReachable: null,
      reading: () => null,
      metrics: [],
      stop: () => Promise.resolve(),
    };
  }
  const { openIndexKeeper } = await import('../../tag-index/redis/open.ts');
  const keeper = await openIndexKeeper(address, sql, log);
  const { index, feed } = keeper;
  return {
    index,
    feed,
    isReachable: () => keeper.reading.isReachable,
    reading: () => keeper.reading,
    metrics: redisMetrics(() => keeper.reading),
    stop: () => keeper.stop(),
  };
}
