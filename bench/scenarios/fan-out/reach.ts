/** Measures what the reach of the sends that are done takes in the database. */

import { GROUP_DEVICES } from '../../../src/domain/device.ts';
import type { FanOutGrounds } from './population.ts';

/** Devices of a group with so many words are as dense as a whole one that nothing shortens. */
const WORDS_OF_DENSE = GROUP_DEVICES / 8 + 2;

/**
 * `reachOctets`: of the sends of the bench, all of whose groups are full. `reachOctetsOfDense`: the
 * same rows with the bits of every device, as where a group has holes. Older versions keep none.
 */
export async function measureReach({ sql }: FanOutGrounds) {
  const [known] = await sql`select to_regclass('push_reach') is not null as known`;
  if (known?.['known'] !== true) return {};
  const size = async (table: string): Promise<number> => {
    const [row] = await sql<{ octets: number }[]>`
      select pg_total_relation_size(${table}::text::regclass)::float8
        / greatest((select count(*) from push_reach), 1) as octets`;
    return (row?.octets ?? 0) / GROUP_DEVICES;
  };
  const reachOctets = await size('push_reach');
  await sql`create table dense_reach (like push_reach including indexes)`;
  await sql`
    insert into dense_reach
    select notification_id, app_id, platform_id, group_number,
      decode(repeat(md5(group_number::text), ${Math.ceil(WORDS_OF_DENSE / 16)}::integer), 'hex')
    from push_reach order by 1, 2, 3, 4`;
  const reachOctetsOfDense = await size('dense_reach');
  await sql`drop table dense_reach`;
  return { reachOctets, reachOctetsOfDense };
}
