/**
 * A million devices with the five built-in attributes: their size in PostgreSQL and Redis, and one
 * push to their tag in turns with one that tests two of the attributes.
 */

import { PLATFORMS } from '../../../packages/std/src/platforms.ts';
import type { SqlPool } from '../../../src/database/sql.ts';
import { BUILT_IN_ATTRIBUTES } from '../../../src/domain/attributes.ts';
import type { Lifetime } from '../../../test/support/lifetime.ts';
import { median } from '../../median.ts';
import type { Result } from '../../scenario.ts';
import { startNghttpdSink } from '../../sinks/nghttpd.ts';
import { environmentOf } from '../fan-out/environment.ts';
import type { FanOutGrounds } from '../fan-out/population.ts';
import { DEVICES, DEVICES_FIRST, prepareFanOut } from '../fan-out/population.ts';
import type { Sent } from '../fan-out/send.ts';
import { send } from '../fan-out/send.ts';

/** Odd: the median is a pair that was measured. */
const ROUNDS = 5;
/** Rows of each copy whose pages are counted. */
const SIZED = 100_000;
const USED_MEMORY = /^used_memory:(\d+)/m;

/** Values of an attribute, and the shares of the devices that have each, in thousandths. */
type Shares = readonly (readonly [value: string, thousandths: number])[];

/** The n-th of so many versions is as frequent as 1/n says. */
function versions(names: readonly string[]): Shares {
  const sum = names.reduce((total, _, n) => total + 1 / (n + 1), 0);
  return names.map((name, n) => [name, 1_000 / (n + 1) / sum]);
}

/** A newspaper's: one language and country for most, a few live versions and a long tail. */
const DISTRIBUTIONS: Readonly<Record<string, Shares>> = {
  language: [
    ['de-DE', 950],
    ['de-AT', 30],
    ['en-US', 20],
  ],
  timezone: [
    ['Europe/Berlin', 940],
    ['Europe/Vienna', 30],
    ['Europe/Zurich', 20],
    ['America/New_York', 10],
  ],
  country: [
    ['DE', 940],
    ['AT', 30],
    ['CH', 20],
    ['US', 10],
  ],
  appVersion: versions(Array.from({ length: 15 }, (_, n) => `5.${14 - n}`)),
  osVersion: versions(Array.from({ length: 30 }, (_, n) => `${26 - Math.floor(n / 6)}.${n % 6}`)),
};

export async function measureSends(stage: Lifetime): Promise<Result> {
  const nghttpd = await startNghttpdSink(stage);
  const grounds = nghttpd === null ? null : await prepareFanOut(stage, nghttpd.tokens);
  if (nghttpd === null || grounds === null) return { rows: [] };
  const { sql, redis, tags } = grounds;
  const usedOctets = async (): Promise<number> =>
    Number(USED_MEMORY.exec(await redis.client.info('memory'))?.[1]);
  const bareOctets = await usedOctets();
  await giveAttributes(grounds);
  await grounds.command(['index', 'rebuild']);
  const redisBytes = ((await usedOctets()) - bareOctets) / DEVICES;
  const databaseBytes = await sizes(sql);

  const engine = await grounds.start('redis', environmentOf(stage, nghttpd));
  const tested = `#${tags.one} && @appVersion >= 5.0 && @language = de`;
  const [meant] = await sql<{ devices: number }[]>`
    select count(*)::integer as devices from devices
    where tag_ids && ${[tags.one]}::integer[] and facet_ids && array(
      select id from attribute_values where value like 'de-%'
    )`;
  const toTag = () => send(grounds, engine, tags.one, DEVICES);
  const toTested = () => send(grounds, engine, tested, meant?.devices ?? 0);
  await send(grounds, engine, tags.first, DEVICES_FIRST);
  await toTested();
  const turns: (readonly [tag: Sent, tested: Sent])[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    // A, B, B, A: a machine that grows slower from turn to turn is as slow for both.
    const before = round % 2 === 0 ? null : await toTested();
    turns.push([await toTag(), before ?? (await toTested())]);
  }
  await engine.end('SIGTERM');
  const rowOf = (what: string, sends: readonly Sent[]) => ({
    what,
    devicesPerSecond: Math.round(median(sends.map((sent) => sent.devicesPerSecond))),
    cpuMicros: median(sends.map((sent) => sent.cpuMicros)),
  });
  return {
    rows: [
      rowOf(
        'to the tag',
        turns.map(([tag]) => tag),
      ),
      rowOf(
        tested,
        turns.map(([, one]) => one),
      ),
    ],
    ratios: {
      sendTime: median(turns.map(([tag, one]) => tag.devicesPerSecond / one.devicesPerSecond)),
      sendCpu: median(turns.map(([tag, one]) => one.cpuMicros / tag.cpuMicros)),
    },
    figures: { redisBytesPerDevice: redisBytes, ...databaseBytes },
  };
}

/** The devices of the first million, by chance but the same in each run. */
async function giveAttributes({ sql, demo }: FanOutGrounds): Promise<void> {
  const choices: string[] = [];
  for (const { id, name } of BUILT_IN_ATTRIBUTES) {
    const shares = DISTRIBUTIONS[name] ?? [];
    const rows = await sql<{ id: number }[]>`
      insert into attribute_values (client_id, attribute_id, value)
      select apps.client_id, ${id}, value
      from apps, unnest(${shares.map(([value]) => value)}::text[]) with ordinality as v (value, place)
      where apps.id = ${demo.appId}
      order by place returning id`;
    choices.push(
      choiceOf(
        rows.map((row) => row.id),
        shares,
      ),
    );
  }
  await sql.unsafe(`
    update devices set facet_ids = (
      select array_agg(facet order by facet)
      from unnest(array[${choices.join(', ')}]) as facet
    )
    where app_id = ${demo.appId} and platform_id = ${PLATFORMS.apns} and ordinal < ${DEVICES}`);
  await sql.unsafe('vacuum analyze devices');
}

/** An SQL expression: one of the ids by its share, by the device's ordinal. */
function choiceOf(ids: readonly number[], shares: Shares): string {
  let upTo = 0;
  const whens = shares.map(([, thousandths], n) => {
    upTo += thousandths / 1_000;
    return `when r < ${upTo} then ${ids[n]}`;
  });
  // Each attribute's own draw: values of two attributes do not go together.
  const draw = `(select (hashint4(ordinal * 7 + ${ids[0]})::bigint + 2147483648) / 4294967296.0)`;
  return `(select case ${whens.join(' ')} else ${ids.at(-1)} end from ${draw} as d (r))`;
}

/** Bytes that values add to a device's row, by the pages of full copies of the table. */
async function sizes(sql: SqlPool): Promise<Readonly<Record<string, number>>> {
  const sizeWith = async (name: string, facets: string): Promise<number> => {
    await sql.unsafe(`
      create table ${name} as select * from devices
      where facet_ids is not null order by ordinal limit ${SIZED}`);
    await sql.unsafe(`update ${name} set facet_ids = ${facets}`);
    await sql.unsafe(`vacuum full ${name}`);
    const [row] = await sql<{ bytes: number }[]>`
      select pg_relation_size(${name}::regclass)::float8 as bytes`;
    return (row?.bytes ?? Number.NaN) / SIZED;
  };
  const none = await sizeWith('sized_none', 'null');
  const five = await sizeWith('sized_five', 'facet_ids');
  const ten = await sizeWith('sized_ten', 'facet_ids || facet_ids');
  return { databaseBytesOfFive: five - none, databaseBytesOfTen: ten - none };
}
