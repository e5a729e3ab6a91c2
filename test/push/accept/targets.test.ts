/** An expression from the acceptance to the devices of a chunk, on both stores. */

import t from 'tap';
import type { SqlPool } from '../../../src/database/sql.ts';
import type { Store } from '../../../src/database/store.ts';
import { readExpression } from '../../../src/domain/audience-expression.ts';
import { Accept } from '../../../src/push/accept/accept.ts';
import type { Push } from '../../../src/push/accept/push.ts';
import { planDue } from '../../../src/push/sql/notifications/plan-due.ts';
import { countUndone } from '../../../src/tag-index/sql/count-undone.ts';
import { SqlTagIndex } from '../../../src/tag-index/sql/sql-tag-index.ts';
import { aPush } from '../../support/a-notification.ts';
import { evaluator } from '../../support/evaluator.ts';
import { plain } from '../../support/expressions.ts';
import { NEVER_AT_ONCE } from '../../support/never-at-once.ts';
import { claimChunksOf, makeTag, makeTenant } from '../../support/notifications.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { seedDevices } from '../../support/seed.ts';
import { SILENT_JOURNAL } from '../../support/silent-journal.ts';

function meant(text: string): Push {
  const read = readExpression(text);
  if (!read.ok) throw new Error(read.fault.message);
  return aPush({ expression: read.expression });
}

/** Tags a, b and c; a device of each combination, by the letters of its tags. */
async function open({ sql, patientReads }: Store) {
  const tenant = await makeTenant(sql, 'expressed');
  const { clientId, appId } = tenant;
  const tagIds = new Map<string, number>();
  for (const sourceId of ['a', 'b', 'c']) {
    tagIds.set(sourceId, await makeTag(sql, clientId, { sourceId }));
  }
  for (const letters of ['-', 'a', 'b', 'c', 'ab', 'ac', 'bc', 'abc']) {
    const tags = [...letters].flatMap((letter) => tagIds.get(letter) ?? []);
    const deviceIds = [letters];
    await seedDevices(sql, { appId, platformId: 3, tagIds: tags, count: 1, deviceIds });
  }
  const index = new SqlTagIndex(sql);
  const accept = new Accept({
    replaceableDefault: true,
    atOnce: NEVER_AT_ONCE,
    journal: SILENT_JOURNAL,
    sql,
    patientReads,
    tagIndex: index,
    evaluator,
    isSimulated: () => true,
    onAccepted: () => undefined,
  });
  const publisher = { clientId, userName: 'p', requestId: 'r', idempotency: null };
  const submit = async (asked: Push): Promise<string> => {
    const acceptance = await accept.submit(asked, publisher);
    if (acceptance.kind !== 'accepted') throw new Error(JSON.stringify(acceptance));
    return acceptance.id;
  };

  /** Whom a notification is for when it is planned now: resolved, counted and looked at again. */
  const plannedFor = async (id: string): Promise<readonly string[]> => {
    await planDue(sql);
    const [chunk] = await claimChunksOf(sql, id, 60_000);
    if (chunk === undefined) return [];
    const audience = plain(chunk.terms.audience);
    const { ordinalEnd } = chunk;
    const group = { appId, platformId: 3, groupNumber: 0 };
    const run = await index.resolve({ group, audience, ordinalEnd, expectedVersion: 0 });
    const names = [...run.offsets.keys()].map((at) => String(run.deviceIds.at(at)));
    const undone = await countUndone(sql, { ...group, ordinalEnd, doneBlocks: '0' }, audience);
    const ordinals = [...Array(ordinalEnd).keys()];
    const rechecked = await index.recheck({ appId, platformId: 3 }, ordinals, audience);
    if (undone !== names.length) throw new Error(`${undone} undone`);
    if ([...rechecked.deviceIds.values()].join() !== names.join()) throw new Error('rechecked');
    return names;
  };
  const countOf = async (asked: Push): Promise<number> => {
    const counted = await accept.dryRun(asked, clientId);
    if (counted.kind !== 'counted') throw new Error(JSON.stringify(counted));
    return counted.audience.reduce((sum, { count }) => sum + count, 0);
  };
  return { tenant, accept, submit, plannedFor, countOf, tagIds };
}

const rowOf = async (sql: SqlPool, id: string) => {
  const [row] = await sql`
    select any_tag_ids, all_tag_ids, none_tag_ids, audience_condition, audience_expression
    from notifications where id = ${id}`;
  return row;
};

await onEachStore(t, {
  async 'who is meant gets it, and is counted'(t, store) {
    const { submit, plannedFor, countOf } = await open(store);
    const cases: readonly (readonly [text: string, devices: readonly string[]])[] = [
      ['a', ['a', 'ab', 'ac', 'abc']],
      ['a || b', ['a', 'b', 'ab', 'ac', 'bc', 'abc']],
      ['a && !b', ['a', 'ac']],
      ['(a || b) && c', ['ac', 'bc', 'abc']],
      ['a && !b || b && !a', ['a', 'b', 'ac', 'bc']],
      ['a && !(b && c)', ['a', 'ab', 'ac']],
      ['(a || b) && (b || c)', ['b', 'ab', 'ac', 'bc', 'abc']],
      ['a && (b || !c)', ['a', 'ab', 'abc']],
      ['!(!a || !b) && !c', ['ab']],
      ['a && !a', []],
      ['nobody && a || c && !b', ['c', 'ac']],
    ];
    for (const [text, devices] of cases) {
      t.equal(await countOf(meant(text)), devices.length, `${text}: counted`);
      t.strictSame(await plannedFor(await submit(meant(text))), devices, text);
    }
  },

  async 'what the six fields can say is stored as they are'(t, store) {
    const { submit, tagIds } = await open(store);
    const [a = 0, b = 0, c = 0] = tagIds.values();
    const ids = (...some: readonly number[]) => ({ ids: some, sourceIds: [] });
    const pairs: readonly (readonly [text: string, asked: Partial<Push>])[] = [
      ['a', { target: ids(a) }],
      [`a || #${b}`, { target: ids(a, b) }],
      ['(a || b) && !c', { target: ids(a, b), exclude: ids(c) }],
      ['!b && a && !c', { target: ids(a), exclude: ids(b, c) }],
      ['(a || b) && c', { target: ids(a, b), filter: ids(c) }],
    ];
    for (const [text, asked] of pairs) {
      const expressed = await rowOf(store.sql, await submit(meant(text)));
      const selected = await rowOf(store.sql, await submit(aPush(asked)));
      t.same(expressed, { ...selected, audience_expression: text }, text);
      t.equal(selected?.['audience_condition'], null);
    }
  },

  async 'what is unknown: 400 where it excludes, nobody where it selects'(t, store) {
    const { accept, tenant, countOf } = await open(store);
    const publisher = {
      clientId: tenant.clientId,
      userName: 'p',
      requestId: 'r',
      idempotency: null,
    };
    t.match(await accept.submit(meant('a || nobody && #999999'), publisher), {
      kind: 'accepted',
      unknownTags: ['nobody', 999_999],
    });
    t.match(await accept.submit(meant('a && !(nobody || !b) && !#999999'), publisher), {
      kind: 'invalid',
      faults: [
        { path: 'audience', position: 7, message: 'There is no tag "nobody" to exclude.' },
        { path: 'audience', position: 25, message: 'There is no tag 999999 to exclude.' },
      ],
    });
    t.equal(await countOf(meant('a && !(!nobody || b)')), 0, 'an even number of "!" selects');
    const foreign = await makeTenant(store.sql, 'foreign');
    t.equal(await countOf(meant(`#${foreign.tagId}`)), 0);
    t.equal(await countOf(meant('#900719925474099 || #0 || a')), 4);
  },

  async 'an expired tag selects nobody and still excludes, also when it expires later'(t, store) {
    const { submit, plannedFor, countOf, tagIds } = await open(store);
    const { sql } = store;
    const texts: readonly (readonly [text: string, devices: readonly string[]])[] = [
      ['a || b', ['a', 'ab', 'ac', 'abc']],
      ['b && c', []],
      ['a && (b || !c)', ['a', 'ab']],
      ['b && c || a && !b', ['a', 'ac']],
      ['a && !(b && c)', ['a', 'ab', 'ac']],
      ['b', []],
    ];
    const before = await Promise.all(texts.map(([text]) => submit(meant(text))));
    await sql`update tags set expires_at_ms = 1000 where id = ${tagIds.get('b') ?? 0}`;
    for (const [place, [text, devices]] of texts.entries()) {
      t.strictSame(await plannedFor(before[place] ?? ''), devices, `${text}: before`);
      t.equal(await countOf(meant(text)), devices.length, `${text}: counted`);
      t.strictSame(await plannedFor(await submit(meant(text))), devices, `${text}: after`);
    }
  },

  async 'it is for the apps that its tags are connected to'(t, store) {
    const { accept, tenant } = await open(store);
    const { sql } = store;
    const [second] = await sql<{ id: number }[]>`
      insert into apps (client_id, name) values (${tenant.clientId}, 'Second') returning id`;
    await sql`insert into app_platforms (app_id, platform_id) values (${second?.id ?? 0}, 15)`;
    const appIds = [second?.id ?? 0];
    await makeTag(sql, tenant.clientId, { sourceId: 'second only', appIds });
    const scopesOf = async (text: string) => {
      const counted = await accept.dryRun(meant(text), tenant.clientId);
      return counted.kind === 'counted' ? counted.audience.map(({ appId }) => appId) : counted;
    };
    const { appId } = tenant;
    t.strictSame(await scopesOf('"second only"'), appIds);
    t.strictSame(await scopesOf('a || "second only"'), [appId, appId, ...appIds]);
    t.strictSame(await scopesOf('nobody'), [appId, appId, ...appIds]);
    t.strictSame(await scopesOf('nobody && "second only"'), appIds);
  },

  async 'a thousand tags, and as deep as is allowed'(t, store) {
    const { countOf } = await open(store);
    const some = Array.from({ length: 997 }, (_, n) => `#${2_000_000_000 + n}`).join(' || ');
    t.equal(await countOf(meant(`(${some} || a) && (b || c)`)), 3);
    const deep = `${'a && (b || '.repeat(32)}c${')'.repeat(32)}`;
    t.equal(await countOf(meant(deep)), 3);
  },
});
