/** Pushes with tests of attributes over HTTP, from their acceptance to what is claimed. */

import type { Test } from 'tap';
import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import { entryOf } from '../../../src/domain/device-numbers.ts';
import { Audiences } from '../../../src/push/dispatch/audiences.ts';
import { claimChunks } from '../../../src/push/sql/ledger/claim-chunks.ts';
import { planDue } from '../../../src/push/sql/notifications/plan-due.ts';
import { SqlTagIndex } from '../../../src/tag-index/sql/sql-tag-index.ts';
import { startJobsApi } from '../../support/jobs-api.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import type { TestedDevice } from '../../support/tested-devices.ts';
import { seedTestedDevices } from '../../support/tested-devices.ts';

const device = (
  ordinal: number,
  tags: readonly string[],
  values: Readonly<Record<string, string>>,
): TestedDevice => ({
  platformId: 3,
  ordinal,
  tags: new Set(tags),
  values: new Map(Object.entries(values)),
});

/** In the second group is one more. */
const DEVICES = [
  device(0, ['a'], { language: 'de-CH', country: 'CH', appVersion: '5.2' }),
  device(1, ['a', 'b'], { language: 'en', appVersion: '4.9.10' }),
  device(2, ['b'], { country: 'DE', plan: 'staff' }),
  device(3, [], { country: 'CH' }),
  device(8_192, ['c'], { country: 'CH', appVersion: '10' }),
];

async function open(t: Test, store: Store) {
  const api = await startJobsApi(t, store, 'acme');
  const { sql } = store;
  await seedTestedDevices(sql, api.tenant, DEVICES);
  const { appId } = api.tenant;
  const audience = (text: string, more = {}) => ({
    audience: text,
    payload: { title: 'goal!' },
    ...more,
  });
  /** The ordinals of the devices that a job is for, when it is planned now. */
  const sentTo = async (id: string): Promise<readonly number[]> => {
    await planDue(sql);
    const part = { notificationId: id, appId, platformId: 3, count: 100 };
    const audiences = new Audiences(sql, { monotonicMs: () => performance.now() });
    const index = new SqlTagIndex(sql);
    const found: number[] = [];
    for (const chunk of await claimChunks(sql, [part], 60_000, null)) {
      const { groupNumber, ordinalEnd } = chunk;
      const group = { appId, platformId: 3, groupNumber };
      const run = await index.resolve({
        group,
        audience: await audiences.of(chunk),
        ordinalEnd,
        expectedVersion: 0,
      });
      found.push(...[...run.offsets].map((offset) => groupNumber * 8_192 + offset));
    }
    return found.sort((a, b) => a - b);
  };
  const push = async (text: string): Promise<string> => {
    const { status, body } = await api.call('POST', '', audience(text));
    t.equal(status, 202, JSON.stringify(body));
    return body.id;
  };
  return { ...api, audience, sentTo, submit: push };
}

await onEachStore(t, {
  async 'a push reaches who has a tag and meets its tests'(t, store) {
    const { submit, sentTo } = await open(t, store);
    const wanted: readonly (readonly [string, readonly number[]])[] = [
      ['a && @language = de', [0]],
      ['a && @appVersion >= 5', [0]],
      ['(a || b) && !(@country = CH)', [1, 2]],
      ['(a || b) && @country != CH', [2]],
      ['* && @country = CH', [0, 8_192]],
      ['*', [0, 1, 2, 8_192]],
      ['* && !a', [2, 8_192]],
      ['(* && @plan) || c', [2, 8_192]],
      ['a && @platform = 3', [0, 1]],
      ['a && @platform = 15', []],
      ['a && @country = FR', []],
    ];
    for (const [text, ordinals] of wanted) {
      t.strictSame(await sentTo(await submit(text)), ordinals, text);
    }
  },

  async 'days of devices are tested from the moment at which a part is claimed'(t, store) {
    const { submit, sentTo, call, audience } = await open(t, store);
    const { sql } = store;
    await sql`
      update devices set registered_on = (now() at time zone 'UTC')::date - ordinal * 40,
        registered_at = now() - ordinal * interval '40 days'
      where ordinal in (0, 1)`;
    await sql`update devices set registered_at = now() where ordinal = 2`;
    const wanted: readonly (readonly [string, readonly number[]])[] = [
      ['* && @registered', [0, 1]],
      ['* && @registered > -30d', [0]],
      ['(a || b) && @registered <= -960h', [1]],
      ['(a || b) && !(@registered > -30d)', [1, 2]],
      ['a && (@lastSeen < -30d || @country = CH)', [0, 1]],
      ['b && @lastSeen >= -30d', [2]],
      ['* && @lastSeen = +0d && !@registered', [2, 8_192]],
      ['a && @registered < 2026-01-01T00:00:00Z', []],
    ];
    for (const [text, ordinals] of wanted) {
      t.strictSame(await sentTo(await submit(text)), ordinals, text);
    }
    const counted = await call('POST', '/estimate', { audience: '(a || b) && @registered > -1d' });
    t.match(counted.body, {
      audience: [{ count: 1 }, { count: 0 }],
      withoutValue: { registered: 1 },
      unknownValues: {},
    });
    const both = await call('POST', '/estimate', {
      audience: 'b && @lastSeen > -1d && @country = DE',
    });
    t.strictSame(both.body.withoutValue, { lastSeen: 0, country: 1 });
    const { body } = await call('POST', '', audience('b && @lastSeen > -1d'));
    const [job] = await sql`select audience_condition from notifications where id = ${body.id}`;
    t.match(job?.['audience_condition'], { subject: 'lastSeen', values: ['-1d'] });
  },

  async 'numbers and times are tested as they are when a part is claimed'(t, store) {
    const { submit, sentTo, call } = await open(t, store);
    const { sql } = store;
    const [score, paidUntil] = (
      await sql<{ id: number }[]>`
        select id from attributes where name in ('score', 'paidUntil') order by name desc`
    ).map(({ id }) => id);
    const minute = Math.floor(Date.now() / 60_000);
    const give = (ordinal: number, points: number, minutes: number) =>
      sql`update devices set numbers = decode(${entryOf(score ?? 0, points)}::text || ${entryOf(paidUntil ?? 0, minute + minutes)}::text, 'hex') where ordinal = ${ordinal}`;
    await give(0, 41, 60);
    await give(1, -3, -60 * 24 * 40);
    await give(2, 42, 60 * 24 * 2);
    const wanted: readonly (readonly [string, readonly number[]])[] = [
      ['* && @score', [0, 1, 2]],
      ['* && !@score', [8_192]],
      ['* && @score >= 42', [2]],
      ['* && @score != 41', [1, 2]],
      ['* && !(@score in (41, -3))', [2, 8_192]],
      ['(a || b) && (@score > 41 || @country = CH)', [0, 2]],
      ['* && @paidUntil < -30d', [1]],
      ['* && @paidUntil > +1d', [2]],
      ['a && @paidUntil > +0h && @score < 2147483647', [0]],
      ['* && @score > 2147483647', []],
    ];
    for (const [text, ordinals] of wanted) {
      t.strictSame(await sentTo(await submit(text)), ordinals, text);
    }
    const counted = await call('POST', '/estimate', { audience: '* && @score = 7 && @paidUntil' });
    t.match(counted.body, {
      audience: [{ count: 0 }, { count: 0 }],
      withoutValue: { score: 1, paidUntil: 1 },
      unknownValues: {},
    });
    const id = await submit('* && @score >= 42');
    await sql`delete from attributes where name = 'score'`;
    t.strictSame(await sentTo(id), [], 'a deleted one matches nobody');
  },

  async 'a value counts that appears after the push was accepted'(t, store) {
    const { submit, sentTo, tenant } = await open(t, store);
    const { sql } = store;
    const id = await submit('a && @country = FR');
    const [row] = await sql<{ id: number }[]>`
      insert into attribute_values (client_id, attribute_id, value)
      values (${tenant.clientId}, -3, 'FR') returning id`;
    await sql`update devices set facet_ids = array[${row?.id ?? 0}::integer] where ordinal = 1`;
    t.strictSame(await sentTo(id), [1]);
  },

  async 'the values of an attribute that was deleted match nobody at once'(t, store) {
    const { submit, sentTo } = await open(t, store);
    const [has, lacks] = [await submit('b && @plan'), await submit('b && !@plan')];
    await store.sql`delete from attributes where name = 'plan'`;
    t.strictSame(await sentTo(has), []);
    t.strictSame(await sentTo(lacks), [1, 2]);
  },

  async 'a deleted filter tag leaves nobody of everybody either'(t, store) {
    const { submit, sentTo } = await open(t, store);
    const id = await submit('(* && @country || b) && (* || c) && a');
    await store.sql`update tags set deleted_at = now() where source_id = 'a'`;
    t.strictSame(await sentTo(id), []);
  },

  async 'answers name values that nobody has, and count who has none'(t, store) {
    const { call, audience } = await open(t, store);
    const text =
      '(a || b) && (@country in (FR, CH) || @language != de || @appVersion = 99 || @platform = 1)';
    const asked = { audience: text.replace('@language != de', '@language = fr') };
    const counts = {
      unknownTags: [],
      unknownValues: { country: ['FR'], language: ['fr'], appVersion: ['99'] },
      withoutValue: { country: 1, language: 1, appVersion: 1 },
    };
    t.match(await call('POST', '/estimate', asked), {
      status: 200,
      body: { ...counts, audience: [{ count: 1 }, { count: 0 }] },
    });
    const dry = await call('POST', '', audience(asked.audience, { dryRun: true }));
    t.match(dry, { status: 200, body: counts });
    const preview = await call('POST', '/preview', audience(asked.audience));
    t.match(preview, { status: 200, body: counts });
    const { body } = await call('POST', '', audience(asked.audience));
    t.strictSame(body.unknownValues, counts.unknownValues);
    t.notOk('withoutValue' in body);
    const { body: none } = await call('POST', '/estimate', { audience: 'a || b' });
    t.strictSame(Object.keys(none), ['audience', 'plan', 'unknownTags']);
    const job = await call('GET', `/${body.id}`);
    t.equal(job.body.audience.expression, asked.audience);
  },

  async 'faults have their places'(t, store) {
    const { call, audience } = await open(t, store);
    const faults: readonly (readonly [string, number, RegExp])[] = [
      ['a && @contry = CH', 5, /no attribute "contry"; the nearest is country/],
      ['a && @plann = x', 5, /the nearest is plan/],
      ['a && @country >= CH', 14, /takes = != in and no >=/],
      ['a && @language != de', 15, /takes = in and no !=/],
      ['a && @country = CHE', 16, /"CHE" is no value of @country/],
      ['a && @appVersion in (5, x)', 24, /"x" is no value of @appVersion/],
      ['a && @premium = yes', 16, /it is true or false/],
      ['a && @platform = ios', 17, /it is a number/],
      ['@country = CH', 0, /tests only narrow/],
      ['a && @lastseen > -1d', 5, /the nearest is lastSeen/],
      ['a && @lastSeen > yesterday', 17, /"yesterday" is no value of @lastSeen: it is a time/],
      ['a && @lastSeen in (-1d, 2026-02-30)', 24, /"2026-02-30" is no value/],
      ['@lastSeen > -1d', 0, /tests only narrow/],
      ['a && @score = 1.5', 14, /"1.5" is no value of @score: it is a whole number/],
      ['a && @score > -1d', 14, /"-1d" is no value of @score/],
      ['a && @paidUntil < soon', 18, /"soon" is no value of @paidUntil: it is a time/],
    ];
    for (const [text, position, message] of faults) {
      t.match(
        await call('POST', '', audience(text)),
        { status: 400, body: { errors: [{ path: 'audience', position, message }] } },
        text,
      );
    }
  },

  async 'keys test nothing personal, and a key for some tags reaches no others'(t, store) {
    const { call, audience, key } = await open(t, store);
    const { sql } = store;
    await sql`update attributes set is_personal = true where name = 'plan'`;
    const [tag] = await sql<{ id: number }[]>`select id from tags where source_id = 'a'`;
    const free = await key({ scopes: ['send'] });
    const limited = await key({ scopes: ['send'], tagIds: [tag?.id ?? 0] });
    const status = async (text: string, token?: string) =>
      (await call('POST', '', audience(text), token)).status;
    t.equal(await status('a && @plan = staff'), 202);
    t.equal(await status('a && @plan = staff', free), 403);
    const trusted = await key({ scopes: ['send', 'personal'] });
    t.equal(await status('a && @plan = staff', trusted), 202);
    t.equal(await status('a', await key({ scopes: ['personal'] })), 403, 'it sends nothing');
    t.equal(await status('* && @country = CH', free), 202);
    t.equal(await status('* && @country = CH', limited), 403);
    t.equal(await status('*', limited), 403);
    t.equal(await status('a && *  && @country = CH', limited), 202);
    t.equal(await status('a || (* && b)', limited), 403);
    const unknown = await call('POST', '', audience('b && @plan = nobody'));
    t.strictSame(unknown.body.unknownValues, {}, 'nothing is told of personal values');
  },

  async 'nothing is accepted that nodes at work do not know'(t, store) {
    const { call, audience } = await open(t, store);
    const { sql } = store;
    const needs = async () =>
      (await sql`select needs from migrations where name = '0049-segments'`)[0]?.['needs'];
    await sql`insert into nodes (host, pid, newest_migration) values ('old', 7, '0047-newest-migration')`;
    t.match(await call('POST', '', audience('a && @country = CH')), {
      status: 503,
      body: { detail: /process 7 on old/ },
    });
    t.equal((await call('POST', '', audience('*'))).status, 503);
    const title = { default: 'Goal!', de: 'Tor!' };
    const inLanguages = { ...audience('a'), payload: { languages: '@language', title } };
    t.equal((await call('POST', '', inLanguages)).status, 503);
    t.equal((await call('POST', '', audience('a || b'))).status, 202);
    t.equal(await needs(), null);
    await sql`update nodes set died_at = now()`;
    t.equal((await call('POST', '', audience('a && @country = CH'))).status, 202);
    t.equal(await needs(), '0049-segments');
  },

  async 'no test of days is accepted that nodes at work do not know'(t, store) {
    const { call, audience } = await open(t, store);
    const { sql } = store;
    const needs = async () =>
      (await sql`select needs from migrations where name = '0050-registered-on'`)[0]?.['needs'];
    await sql`insert into nodes (host, pid, newest_migration) values ('old', 7, '0049-segments')`;
    t.equal((await call('POST', '', audience('a && !(@lastSeen > -1d)'))).status, 503);
    t.equal((await call('POST', '', audience('a && @country = CH'))).status, 202);
    t.equal(await needs(), null);
    await sql`update nodes set died_at = now()`;
    t.equal((await call('POST', '', audience('a && @lastSeen > -1d'))).status, 202);
    t.equal(await needs(), '0050-registered-on');
  },

  async 'no test of numbers is accepted that nodes at work do not know'(t, store) {
    const { call, audience } = await open(t, store);
    const { sql } = store;
    const needs = async () =>
      (await sql`select needs from migrations where name = '0052-numbers'`)[0]?.['needs'];
    await sql`insert into nodes (host, pid, newest_migration) values ('old', 7, '0050-registered-on')`;
    t.equal((await call('POST', '', audience('a && !(@score > 1)'))).status, 503);
    t.equal((await call('POST', '', audience('a && @lastSeen > -1d'))).status, 202);
    t.equal(await needs(), null);
    await sql`update nodes set died_at = now()`;
    t.equal((await call('POST', '', audience('a && @score > 1'))).status, 202);
    t.equal(await needs(), '0052-numbers');
  },
});
