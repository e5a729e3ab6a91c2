/** Reads the reach of a push job, as the ledger keeps it (decision 74). */

import type { Sql } from '../../src/database/sql.ts';
import { BLOCK_DEVICES, firstOrdinalOf } from '../../src/domain/device.ts';

/** The offsets that words name (push/worker/chunk/reach.ts). */
export function offsetsIn(words: Uint8Array): ReadonlySet<number> {
  const found = new Set<number>();
  const view = new DataView(words.buffer, words.byteOffset, words.length);
  for (let at = 0; at < words.length; ) {
    const word = view.getUint16(at);
    at += 2;
    const first = (word & 0x3f) * BLOCK_DEVICES;
    const devices = (((word >> 6) & 0x3f) + 1) * BLOCK_DEVICES;
    if (word < 0x2000) {
      found.add(word);
    } else if (word >= 0x4000 && word < 0x8000) {
      for (let bit = 0; bit < devices; bit += 1) {
        if ((view.getUint8(at + (bit >> 3)) >> (bit & 7)) & 1) found.add(first + bit);
      }
      at += devices / 8;
    } else if (word >= 0x8000 && word < 0xc000) {
      const but = new Set<number>();
      for (; at < words.length && view.getUint16(at) >> 13 === 1; at += 2) {
        but.add(view.getUint16(at) & 0x1fff);
      }
      for (let offset = first; offset < first + devices; offset += 1) {
        if (!but.has(offset)) found.add(offset);
      }
    } else throw new Error(`no such word: ${word.toString(16)}`);
  }
  return found;
}

interface ReachOfGroup {
  readonly appId: number;
  readonly platformId: number;
  readonly groupNumber: number;
  readonly words: Uint8Array;
  readonly lies: 'scope' | 'chunk' | 'group';
}

/** All that is kept of a job, wherever it lies. */
export const readReach = (sql: Sql, notificationId: string) => sql<ReachOfGroup[]>`
  select app_id as "appId", platform_id as "platformId", group_number as "groupNumber", words, 'group' as lies
  from push_reach where notification_id = ${notificationId}
  union all
  select app_id, platform_id, group_number, reach_words, 'chunk'
  from chunks where notification_id = ${notificationId} and reach_words is not null
  union all
  select app_id, platform_id, ('x' || encode(substring(reach_words for 4), 'hex'))::bit(32)::integer,
    substring(reach_words from 5), 'scope'
  from notification_scopes where notification_id = ${notificationId} and reach_words is not null`;

/** The ordinals of the devices that a job has reached, by the places where they were then. */
export async function ordinalsReached(sql: Sql, notificationId: string) {
  const rows = await readReach(sql, notificationId);
  const found = rows.flatMap(({ appId, platformId, groupNumber, words }) =>
    [...offsetsIn(words)].map((offset) => ({
      appId,
      platformId,
      ordinal: firstOrdinalOf(groupNumber) + offset,
    })),
  );
  const keys = new Set(found.map((one) => `${one.appId}.${one.platformId}.${one.ordinal}`));
  if (keys.size !== found.length) throw new Error('a device is in the reach twice');
  return found;
}

/** The tokens of today's devices that a job has reached, sorted. */
export async function tokensReached(sql: Sql, notificationId: string): Promise<readonly string[]> {
  const places = await ordinalsReached(sql, notificationId);
  const rows = await sql<{ token: string }[]>`
    select d.device_id as token
    from unnest(
      ${places.map(({ appId }) => appId)}::integer[], ${places.map(({ platformId }) => platformId)}::integer[],
      ${places.map(({ ordinal }) => ordinal)}::integer[]
    ) as r (app_id, platform_id, ordinal)
    left join moved_ordinals m
      on (m.app_id, m.platform_id, m.from_ordinal) = (r.app_id, r.platform_id, r.ordinal)
    join devices d on d.app_id = r.app_id and d.platform_id = r.platform_id
      and d.ordinal = coalesce(m.to_ordinal, r.ordinal)`;
  return rows.map(({ token }) => token).sort();
}
