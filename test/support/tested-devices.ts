/** Random devices with tags and values of attributes, and random expressions over both. */

import * as fc from 'fast-check';
import type { Sql } from '../../src/database/sql.ts';
import { list, textList } from '../../src/database/sql.ts';
import { entryOf, readNumber } from '../../src/domain/device-numbers.ts';
import { declareAttribute } from './attributes.ts';
import { makeTag } from './notifications.ts';

export interface TestedDevice {
  readonly platformId: number;
  readonly ordinal: number;
  /** Their source ids. */
  readonly tags: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, string>;
  /** The day of its first registration, and the moment of the last. Absent: not known, and now. */
  readonly registered?: string;
  readonly lastSeen?: string;
  /** Declared numbers and times, as they are given. Absent: none. */
  readonly numbers?: ReadonlyMap<string, number | string>;
}

/** The moment of the tests: what is relative counts from it. */
export const TESTED_AT_MS = Date.parse('2027-03-01T10:30:00Z');
const DAYS = ['2027-02-27', '2027-02-28', '2027-03-01', '2026-12-31'];
/** The time that an import writes where it does not know it. */
const NEVER = '1970-01-01T00:00:00.000Z';
const TIMES_OF_DAY = ['00:00:00.000Z', '12:00:00.000Z', '23:59:59.999Z'];

const TAGS = ['a', 'b', 'c', 'd'];
/** The values of the dictionary. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  language: ['de', 'de-CH', 'den', 'en', 'zh-Hant-TW'],
  country: ['CH', 'DE'],
  appVersion: ['4.9.10', '5', '5.2', '5.2.1', '10'],
  premium: ['true', 'false'],
  plan: ['free', 'paid "once"', 'staff'],
};
/** Declared numbers, and times whose seconds do not count. */
const NUMBERS: Readonly<Record<string, readonly (number | string)[]>> = {
  score: [0, -7, 42, 2_147_483_647, -2_147_483_647, '1000000'],
  paidUntil: [
    '2027-03-01T10:30:00Z',
    '2027-03-01T10:30:59.999Z',
    '2027-03-01T09:29+01:00',
    '2027-02-28',
    TESTED_AT_MS + 60_000,
    0,
  ],
};
const ORDER = ['has', '=', '!=', '<', '<=', '>', '>=', 'in'];
const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  language: ['has', '=', 'in'],
  country: ['has', '=', '!=', 'in'],
  appVersion: ORDER,
  premium: ['has', '=', '!=', 'in'],
  plan: ['has', '=', '!=', 'in'],
  platform: ['has', '=', '!=', 'in'],
  registered: ORDER,
  lastSeen: ORDER,
  score: ORDER,
  paidUntil: ORDER,
};
/** The values that publishers write; no device has some of them. */
const WRITTEN: Readonly<Record<string, readonly string[]>> = {
  language: ['de', 'de_CH', 'en', 'fr', 'zh-Hant', 'zh-TW'],
  country: ['ch', 'DE', 'FR'],
  appVersion: ['5', '5.2.0', '5.2.1-rc1', '4.9.9', '9', '11'],
  premium: ['true', 'false'],
  plan: ['free', 'paid "once"', 'none'],
  platform: ['3', '15', '1'],
  registered: ['2027-02-28', '-1d', '-11h', '+1d', '2027-03-01T01:00+02:00'],
  score: ['0', '-7', '41', '42', '1000000', '2147483647', '-2147483647'],
  paidUntil: [
    '2027-03-01T10:30Z',
    '2027-03-01T10:30:30Z',
    '-0h',
    '-1d',
    '+1h',
    '2027-02-28',
    '1970-01-01',
  ],
  lastSeen: ['2027-02-28', '-2d', '-1h', String(TESTED_AT_MS), '2027-02-28T23:59:59Z'],
};
/** The attributes that apps set. */
export const TESTED_NAMES: readonly string[] = [...Object.keys(VALUES), ...Object.keys(NUMBERS)];
const BUILT_IN: Readonly<Record<string, number>> = { language: -1, country: -3, appVersion: -4 };

export type TestedTree =
  | { readonly tag: string }
  | { readonly everybody: true }
  | { readonly name: string; readonly operator: string; readonly values: readonly string[] }
  | { readonly not: TestedTree }
  | { readonly and: readonly TestedTree[] }
  | { readonly or: readonly TestedTree[] };

const test = fc.constantFrom(...Object.keys(OPERATORS)).chain((name) =>
  fc.record({
    name: fc.constant(name),
    operator: fc.constantFrom(...(OPERATORS[name] ?? [])),
    values: fc.array(fc.constantFrom(...(WRITTEN[name] ?? [])), { minLength: 1, maxLength: 3 }),
  }),
);

export const { tree: testedTrees } = fc.letrec<{ tree: TestedTree }>((tie) => {
  const parts = fc.array(tie('tree'), { minLength: 1, maxLength: 3 });
  return {
    tree: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.record({ tag: fc.constantFrom(...TAGS) }),
      { arbitrary: test, weight: 2 },
      fc.constant({ everybody: true } as const),
      fc.record({ not: tie('tree') }),
      fc.record({ and: parts }),
      fc.record({ or: parts }),
    ),
  };
});

export function testedText(tree: TestedTree): string {
  if ('tag' in tree) return tree.tag;
  if ('everybody' in tree) return '*';
  if ('not' in tree) return `!(${testedText(tree.not)})`;
  if ('and' in tree) return `(${tree.and.map(testedText).join(' && ')})`;
  if ('or' in tree) return `(${tree.or.map(testedText).join('||')})`;
  const values = tree.values.map((value) => JSON.stringify(value));
  if (tree.operator === 'has') return `@${tree.name}`;
  if (tree.operator === 'in') return `@${tree.name} in (${values.join(', ')})`;
  return `@${tree.name}${tree.operator}${values[0]}`;
}

/** Whether a device is meant, evaluated plainly. */
export function isMeant(tree: TestedTree, device: TestedDevice): boolean {
  if ('tag' in tree) return device.tags.has(tree.tag);
  if ('everybody' in tree) return device.tags.size > 0;
  if ('not' in tree) return !isMeant(tree.not, device);
  if ('and' in tree) return tree.and.every((part) => isMeant(part, device));
  if ('or' in tree) return tree.or.some((part) => isMeant(part, device));
  const { name, operator, values } = tree;
  if (name in NUMBERS) return isMeantByNumber(tree, device);
  const value = givenOf(name, device);
  if (value === undefined) return false;
  if (operator === 'has') return true;
  if (operator === 'in') return values.some((one) => holds(name, '=', value, one));
  return holds(name, operator, value, values[0] ?? '');
}

function isMeantByNumber(
  { name, operator, values }: Extract<TestedTree, { readonly name: string }>,
  { numbers }: TestedDevice,
): boolean {
  const given = numbers?.get(name);
  if (given === undefined) return false;
  const plain = (written: number | string): number => {
    if (name === 'score') return Number(written);
    const ms = typeof written === 'number' ? written : momentOf(written).getTime();
    return ms - (ms % 60_000);
  };
  const value = plain(given);
  const wanted = values.map(plain);
  const [first = 0] = wanted;
  if (operator === 'in') return wanted.includes(value);
  const held: Readonly<Record<string, boolean>> = {
    has: true,
    '=': value === first,
    '!=': value !== first,
    '<': value < first,
    '<=': value <= first,
    '>': value > first,
    '>=': value >= first,
  };
  return held[operator] ?? false;
}

function givenOf(name: string, device: TestedDevice): string | undefined {
  if (name === 'platform') return String(device.platformId);
  if (name === 'registered') return device.registered;
  if (name !== 'lastSeen') return device.values.get(name);
  return device.lastSeen === NEVER ? undefined : device.lastSeen?.slice(0, 10);
}

/** The day that is written, in UTC. */
const dayOf = (written: string): string => momentOf(written).toISOString().slice(0, 10);

function momentOf(written: string): Date {
  const [, days, hours] = /^([+-]\d+)d$|^([+-]\d+)h$/.exec(written) ?? [];
  const distanceHours = days === undefined ? Number(hours) : 24 * Number(days);
  return Number.isNaN(distanceHours)
    ? new Date(/^\d+$/.test(written) ? Number(written) : written)
    : new Date(TESTED_AT_MS + distanceHours * 3_600_000);
}

function holds(name: string, operator: string, value: string, written: string): boolean {
  if (name === 'language') {
    const asked = written.replaceAll('_', '-').split('-');
    return value.split('-').slice(0, asked.length).join() === asked.join();
  }
  const key = (text: string): string => (name === 'appVersion' ? sortable(text) : text);
  const isDay = name === 'registered' || name === 'lastSeen';
  const [left, right] = isDay
    ? [value, dayOf(written)]
    : [key(value), key(name === 'country' ? written.toUpperCase() : written)];
  if (operator === '=') return left === right;
  if (operator === '!=') return left !== right;
  if (operator === '<') return left < right;
  if (operator === '<=') return left <= right;
  return operator === '>' ? left > right : left >= right;
}

const sortable = (version: string): string =>
  [...version.replace(/-.*/, '').split('.'), '0', '0', '0']
    .slice(0, 4)
    .map((part) => part.padStart(5, '0'))
    .join('.');

/** Makes the same ones each time. The first of the counts is for platform 3, the other for 15. */
export function randomDevices(counts: readonly [number, number]): readonly TestedDevice[] {
  let state = 1;
  const random = (): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  const valuesFrom = <V>(values: Readonly<Record<string, readonly V[]>>): ReadonlyMap<string, V> =>
    new Map(
      Object.entries(values).flatMap(([name, all]) => {
        const value = all[Math.floor(random() * (all.length + 1))];
        return value === undefined ? [] : [[name, value] as const];
      }),
    );
  const one = (platformId: number, ordinal: number): TestedDevice => ({
    platformId,
    ordinal,
    tags: new Set(TAGS.filter(() => random() < 0.3)),
    values: valuesFrom(VALUES),
    numbers: valuesFrom(NUMBERS),
    ...registeredOn(DAYS[Math.floor(random() * (DAYS.length + 1))]),
    lastSeen:
      random() < 0.1
        ? NEVER
        : `${DAYS[Math.floor(random() * DAYS.length)]}T${TIMES_OF_DAY[Math.floor(random() * 3)]}`,
  });
  return [3, 15].flatMap((platformId, place) =>
    Array.from({ length: counts[place] ?? 0 }, (_, ordinal) => one(platformId, ordinal)),
  );
}

const registeredOn = (registered: string | undefined): Pick<TestedDevice, 'registered'> =>
  registered === undefined ? {} : { registered };

/** Writes devices with their tags, and all values of the dictionary, as the engine would have. */
export async function seedTestedDevices(
  sql: Sql,
  { clientId, appId }: { readonly clientId: number; readonly appId: number },
  devices: readonly TestedDevice[],
): Promise<void> {
  const tagIds = new Map<string, number>();
  for (const sourceId of TAGS) tagIds.set(sourceId, await makeTag(sql, clientId, { sourceId }));
  const facets = await seedValues(sql, clientId);
  const entries = await declareNumbers(sql, clientId);
  const idsOf = (names: readonly string[], ids: ReadonlyMap<string, number>) =>
    `{${names
      .map((name) => ids.get(name) ?? 0)
      .sort((a, b) => a - b)
      .join()}}`;
  await sql`
    insert into devices (app_id, platform_id, ordinal, device_key, device_id, registered_at, registered_on, tag_ids, facet_ids, numbers)
    select ${appId}, platform_id, ordinal, md5(platform_id || '/' || ordinal)::uuid,
      md5(platform_id || '/' || ordinal), coalesce(nullif(last_seen, '')::timestamptz, now()),
      nullif(registered, '')::date, tag_ids::integer[], nullif(facet_ids::integer[], '{}'), nullif(decode(numbers, 'hex'), '')
    from unnest(${list(devices.map(({ platformId }) => platformId))}::integer[],
      ${list(devices.map(({ ordinal }) => ordinal))}::integer[],
      ${textList(devices.map(({ tags }) => idsOf([...tags], tagIds)))}::text[],
      ${textList(
        devices.map(({ values }) =>
          idsOf(
            [...values].map(([name, value]) => `${name}=${value}`),
            facets,
          ),
        ),
      )}::text[],
      ${textList(devices.map(({ registered = '' }) => registered))}::text[],
      ${textList(devices.map(({ lastSeen = '' }) => lastSeen))}::text[],
      ${textList(devices.map(entries))}::text[]
    ) as d (platform_id, ordinal, tag_ids, facet_ids, registered, last_seen, numbers)`;
  await sql`
    insert into device_group_tags (app_id, platform_id, tag_id, group_number)
    select distinct app_id, platform_id, unnest(tag_ids), ordinal >> 13 from devices
    where app_id = ${appId}`;
  await sql`
    insert into device_groups (app_id, platform_id, group_number, version)
    select distinct app_id, platform_id, ordinal >> 13, 1 from devices where app_id = ${appId}`;
  await sql`
    update app_platforms p set next_ordinal = coalesce((
      select max(ordinal) + 1 from devices where (app_id, platform_id) = (p.app_id, p.platform_id)
    ), 0)
    where app_id = ${appId}`;
}

/** Answers how the numbers of a device are kept. */
async function declareNumbers(
  sql: Sql,
  clientId: number,
): Promise<(device: TestedDevice) => string> {
  const score = await declareAttribute(sql, clientId, { name: 'score', type: 'integer' });
  const paidUntil = await declareAttribute(sql, clientId, { name: 'paidUntil', type: 'time' });
  return ({ numbers }) =>
    [...(numbers ?? [])]
      .map(([name, value]) =>
        name === 'score'
          ? entryOf(score, readNumber('integer', value) ?? 0)
          : entryOf(paidUntil, readNumber('time', value) ?? 0),
      )
      .sort()
      .join('');
}

/** Their ids by `name=value`. */
async function seedValues(sql: Sql, clientId: number): Promise<ReadonlyMap<string, number>> {
  const facets = new Map<string, number>();
  for (const [name, values] of Object.entries(VALUES)) {
    let attributeId = BUILT_IN[name];
    if (attributeId === undefined) {
      const [row] = await sql<{ id: number }[]>`
        insert into attributes (client_id, name, type, set_by, is_personal)
        values (${clientId}, ${name}, ${name === 'premium' ? 'boolean' : 'text'}, 'both', false)
        returning id`;
      attributeId = row?.id ?? 0;
    }
    for (const value of values) {
      const [row] = await sql<{ id: number }[]>`
        insert into attribute_values (client_id, attribute_id, value)
        values (${clientId}, ${attributeId}, ${value}) returning id`;
      facets.set(`${name}=${value}`, row?.id ?? 0);
    }
  }
  return facets;
}
