/** Opens the tag index in Redis for a command, with the running engine's settings. */

import type { OpenedIndex } from '../../cli/index-command.ts';
import type { Store } from '../../database/store.ts';
import { openPostgres } from '../../database/store.ts';
import { readLineage } from '../../tag-index/groups/lineage.ts';
import { connectWhole } from '../../tag-index/redis/connect.ts';
import type { Config } from '../config.ts';
import { redisAddressOf } from '../config.ts';

export async function openIndex(config: Config): Promise<OpenedIndex | string> {
  const address = redisAddressOf(config);
  if (address === null || config.DATABASE_URL === undefined) {
    return 'There is no index in Redis: set DATABASE_URL, and REDIS_URL or REDIS_CLUSTER, as the engine has them.';
  }
  const client = await connectWhole(address);
  if (typeof client === 'string') return client;
  let store: Store;
  try {
    store = await openPostgres(config.DATABASE_URL);
  } catch (error) {
    // Otherwise the command would not end.
    client.disconnect();
    throw error;
  }
  return {
    sql: store.sql,
    client,
    indexName: (await readLineage(store.sql)).name,
    async close() {
      client.disconnect();
      await store.close();
    },
  };
}
