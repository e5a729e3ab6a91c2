/** Declared numbers and times: set, seen, replaced, and gone with their attribute. */

import t from 'tap';
import { deleteAttribute } from '../../../src/attributes/sql/attributes.ts';
import type { Sql } from '../../../src/database/sql.ts';
import type { Store } from '../../../src/database/store.ts';
import { runUpkeepJob } from '../../../src/database/upkeep-job.ts';
import { deletedNumbers } from '../../../src/devices/deleted-numbers.ts';
import { makeAppApi } from '../../support/app-api.ts';
import { declareAttribute } from '../../support/attributes.ts';
import { mortal } from '../../support/mortal.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { makeTenant } from '../../support/tenant.ts';

async function open(store: Store) {
  const { sql } = store;
  const tenant = await makeTenant(sql, 'acme');
  const { clientId, appId } = tenant;
  const tagId = await tenant.makeTag();
  const declare = (name: string, type: string) => declareAttribute(sql, clientId, { name, type });
  const score = await declare('score', 'integer');
  const paidUntil = await declare('paidUntil', 'time');
  const api = makeAppApi(store);
  const body = (deviceId: string, more: object) => ({ appId, platformId: 15, deviceId, ...more });
  return {
    clientId,
    score,
    paidUntil,
    api,
    async reg(deviceId: string, attributes: object, endpoint = 'reg'): Promise<string | undefined> {
      const given = body(deviceId, { tagId, attributes });
      const { status, headers } = await api.call(endpoint, tenant.caller, given);
      if (status !== 200) throw new Error(`${endpoint} answered ${status}`);
      return headers?.['Tagcast-Ignored'];
    },
    replace: (deviceId: string, newDeviceId: string) =>
      api.at(
        '/push-api/v3/:client/devices/replace',
        tenant.caller,
        { client: 'acme' },
        body(deviceId, { newDeviceId }),
      ),
    async seen(deviceId: string): Promise<unknown> {
      const path = '/push-api/v3/:client/device';
      const { body: text } = await api.at(
        path,
        tenant.caller,
        { client: 'acme' },
        body(deviceId, {}),
      );
      return JSON.parse(String(text)).attributes;
    },
  };
}

const rowOf = async (sql: Sql, deviceId: string) =>
  (
    await sql<{ version: string; digits: string | null }[]>`
      select xmin::text as version, encode(numbers, 'hex') as digits from devices where device_id = ${deviceId}`
  )[0];

await onEachStore(t, {
  'given ones are set, null clears one, and a repetition writes nothing': async (t, store) => {
    const { sql } = store;
    const { reg, seen } = await open(store);
    const given = { score: -5, paidUntil: '2027-03-01T11:30:30+01:00', language: 'de' };
    t.equal(await reg('x', given), undefined);
    t.same(await seen('x'), { language: 'de', score: -5, paidUntil: '2027-03-01T10:30Z' });
    const before = await rowOf(sql, 'x');
    t.equal(before?.digits?.length, 32);
    t.equal(await reg('x', { ...given, paidUntil: '2027-03-01T10:30:59Z' }), undefined);
    t.same(await rowOf(sql, 'x'), before, 'it is the same minute');
    t.equal(await reg('x', { score: '7' }, 'set'), undefined);
    t.same(await seen('x'), { language: 'de', score: 7, paidUntil: '2027-03-01T10:30Z' });
    t.equal(await reg('x', { paidUntil: null, language: null }), undefined);
    t.same(await seen('x'), { score: 7 });
    t.equal(await reg('x', { score: null }), undefined);
    t.same(await seen('x'), {});
    t.equal((await rowOf(sql, 'x'))?.digits, null);
    t.equal(await reg('new', { score: 1 }), undefined);
    t.same(await seen('new'), { score: 1 }, 'of a new device, too');
  },

  'what is none is ignored alone, and named': async (t, store) => {
    const { reg, seen } = await open(store);
    t.equal(
      await reg('x', { score: 1.5, paidUntil: 'tomorrow', language: 'de' }),
      'attributes.score, attributes.paidUntil',
    );
    t.same(await seen('x'), { language: 'de' });
    t.equal(
      await reg('x', { score: 2_147_483_648, paidUntil: '-1d' }),
      'attributes.score, attributes.paidUntil',
    );
  },

  'a replaced token keeps them; of two devices the new one wins': async (t, store) => {
    const { reg, replace, seen } = await open(store);
    await reg('old', { score: 1, paidUntil: '2027-01-01' });
    t.equal((await replace('old', 'moved')).status, 200);
    t.same(await seen('moved'), { score: 1, paidUntil: '2027-01-01T00:00Z' });
    await reg('fresh', { score: 2 });
    t.equal((await replace('moved', 'fresh')).status, 200);
    t.same(await seen('fresh'), { score: 2, paidUntil: '2027-01-01T00:00Z' });
  },

  'while a node of an earlier version is at work none is set': async (t, store) => {
    const { sql } = store;
    const { reg, seen } = await open(store);
    await sql`insert into nodes (host, pid, newest_migration) values ('old', 7, '0051-one-index-of-jobs-under-way')`;
    t.equal(await reg('x', { score: 1, language: 'de' }), 'attributes.score=later');
    t.same(await seen('x'), { language: 'de' });
    await sql`update nodes set died_at = now()`;
  },

  'those of a deleted attribute leave the devices, whenever a node dies': async (t, store) => {
    const { sql } = store;
    const { reg, seen, clientId, score, paidUntil } = await open(store);
    for (const deviceId of ['a', 'b']) await reg(deviceId, { score: 3, paidUntil: 0 });
    await reg('c', { score: 4 });
    await sql.begin((tx) => deleteAttribute(tx, clientId, { id: score, type: 'integer' }));
    t.same(await seen('a'), { paidUntil: '1970-01-01T00:00Z' }, 'at once');
    const settle = async (atMs: number) => {
      const job = deletedNumbers();
      for (let runs = 0; runs < 3; runs += 1) await runUpkeepJob(job, { sql, nowMs: atMs });
    };
    await settle(Date.now());
    t.equal((await rowOf(sql, 'c'))?.digits?.length, 16, 'nodes may still set it for some seconds');
    const laterMs = Date.now() + 600_000;
    for (let statements = 1; statements < 6; statements += 1) {
      const run = { sql: mortal(sql, statements), nowMs: laterMs };
      await runUpkeepJob(deletedNumbers(), run).catch(() => undefined);
    }
    await settle(laterMs);
    t.equal((await rowOf(sql, 'c'))?.digits, null);
    const left = (await rowOf(sql, 'a'))?.digits;
    t.equal(left, `${paidUntil.toString(16).padStart(8, '0')}80000000`);
    t.same(await sql`select from deleted_numbers`, []);
  },
});
