import t from 'tap';
import { surveyAhead, surveyDue } from '../../src/fan-out/survey.ts';
import type { PlannedNotification } from '../../src/store/notifications/plan-due.ts';
import { planDue } from '../../src/store/notifications/plan-due.ts';
import type { Sql } from '../../src/store/sql.ts';
import { SqlTagIndex } from '../../src/tag-index/sql/sql-tag-index.ts';
import type { TagIndex } from '../../src/tag-index/tag-index.ts';
import type { Tenant } from '../support/notifications.ts';
import { makeNotification, makeTenant } from '../support/notifications.ts';
import { withStores } from '../support/store.ts';

const GROUPS = 8;
const PLATFORM = 3;

/** Subscribes the device at this ordinal to the tenant's tag, as a registration would. */
async function subscribe(sql: Sql, { appId, tagId }: Tenant, ordinal: number): Promise<void> {
  await sql`insert into subscriptions (app_id, platform_id, tag_id, ordinal) values (${appId}, ${PLATFORM}, ${tagId}, ${ordinal})`;
  await sql`
    update device_groups set version = version + 1
    where app_id = ${appId} and platform_id = ${PLATFORM} and group_number = ${Math.floor(ordinal / 8_192)}`;
}

/** A tenant with ordinals in all groups. */
async function makeSpread(sql: Sql, slug: string, ordinals: readonly number[]): Promise<Tenant> {
  const tenant = await makeTenant(sql, slug);
  const { appId } = tenant;
  await sql`update app_platforms set next_ordinal = ${GROUPS * 8_192} where app_id = ${appId}`;
  await sql`
    insert into device_groups (app_id, platform_id, group_number, version)
    select ${appId}, ${PLATFORM}, g, 1 from generate_series(0, ${GROUPS - 1}::integer) g`;
  for (const ordinal of ordinals) await subscribe(sql, tenant, ordinal);
  return tenant;
}

async function plannedGroups(sql: Sql, id: string): Promise<readonly number[]> {
  const rows = await sql<{ group: number }[]>`
    select group_number as group from chunks where notification_id = ${id} order by group_number`;
  return rows.map(({ group }) => group);
}

const stateOf = async (sql: Sql, id: string): Promise<string | undefined> =>
  (await sql<{ state: string }[]>`select state from notifications where id = ${id}`)[0]?.state;

/** An index that is asked only this. */
const indexThat = (occupiedGroups: TagIndex['occupiedGroups']): TagIndex => ({
  resolve: () => Promise.reject(new Error('not asked')),
  recheck: () => Promise.reject(new Error('not asked')),
  count: () => Promise.reject(new Error('not asked')),
  occupiedGroups,
});

const idsOf = (planned: readonly PlannedNotification[]): readonly string[] =>
  planned.map(({ id }) => id);

const ALL = Array.from({ length: GROUPS }, (_, group) => group);

await withStores(t, async (t, store) => {
  const { sql } = store;
  const index = new SqlTagIndex(sql);

  await t.test('nothing due: nothing to plan', async (t) => {
    t.equal(await surveyDue(sql, index), null);
  });

  await t.test('chunks only where somebody is meant', async (t) => {
    const tenant = await makeSpread(sql, 'few', [5, 8_192 * 3, 8_192 * 3 + 1, 8_192 * 8 - 1]);
    const id = await makeNotification(sql, tenant);
    const survey = await surveyDue(sql, index);
    t.strictSame(idsOf(await planDue(sql, survey)), [id]);
    t.strictSame(await plannedGroups(sql, id), [0, 3, 7]);
    t.equal(await stateOf(sql, id), 'RUNNING');
  });

  await t.test('nobody anywhere: finished at once', async (t) => {
    const id = await makeNotification(sql, await makeSpread(sql, 'nobody', []));
    await planDue(sql, await surveyDue(sql, index));
    t.strictSame(await plannedGroups(sql, id), []);
    t.equal(await stateOf(sql, id), 'FINISHED');
  });

  await t.test('who subscribes between the survey and the plan is in it', async (t) => {
    const tenant = await makeSpread(sql, 'between', [5]);
    const id = await makeNotification(sql, tenant);
    const survey = await surveyDue(sql, index);
    await subscribe(sql, tenant, 8_192 * 4);
    await planDue(sql, survey);
    t.strictSame(await plannedGroups(sql, id), [0, 4]);
  });

  await t.test('who comes between the reading of the versions and the question, too', async (t) => {
    const tenant = await makeSpread(sql, 'late', [5]);
    const id = await makeNotification(sql, tenant);
    // It answers of what it has, and what it has is older than the subscription.
    const stale = indexThat(async (audience, groups) => {
      const answer = await index.occupiedGroups(audience, groups);
      await subscribe(sql, tenant, 8_192 * 6);
      return answer;
    });
    await planDue(sql, await surveyDue(sql, stale));
    t.strictSame(await plannedGroups(sql, id), [0, 6]);
  });

  await t.test('a group without a version is planned: nothing is proved of it', async (t) => {
    const tenant = await makeSpread(sql, 'reserved', [5]);
    await sql`
      delete from device_groups where app_id = ${tenant.appId} and platform_id = ${PLATFORM} and group_number = 5`;
    const id = await makeNotification(sql, tenant);
    await planDue(sql, await surveyDue(sql, index));
    t.strictSame(await plannedGroups(sql, id), [0, 5]);
  });

  for (const [name, occupiedGroups] of [
    ['that cannot tell', () => Promise.resolve(null)],
    ['that hangs', () => new Promise<null>(() => undefined)],
  ] as const) {
    await t.test(`an index ${name}: all groups`, async (t) => {
      const tenant = await makeSpread(sql, name.replaceAll(' ', '-'), [5]);
      const id = await makeNotification(sql, tenant);
      await planDue(sql, await surveyDue(sql, indexThat(occupiedGroups)));
      t.strictSame(await plannedGroups(sql, id), ALL);
    });
  }

  await t.test('what was not surveyed is not planned with it', async (t) => {
    const tenant = await makeSpread(sql, 'apart', [5]);
    const first = await makeNotification(sql, tenant);
    const survey = await surveyDue(sql, index);
    const second = await makeNotification(sql, tenant);
    t.strictSame(idsOf(await planDue(sql, survey)), [first]);
    t.equal(await stateOf(sql, second), 'QUEUED');
    t.strictSame(idsOf(await planDue(sql, await surveyDue(sql, index))), [second]);
  });

  await t.test('two that plan at once: one of them does', async (t) => {
    const tenant = await makeSpread(sql, 'twice', [5, 8_192 * 2]);
    const id = await makeNotification(sql, tenant);
    const surveys = await Promise.all([surveyDue(sql, index), surveyDue(sql, index)]);
    const planned = await Promise.all(surveys.map((survey) => planDue(sql, survey)));
    t.strictSame(idsOf(planned.flat()), [id]);
    t.strictSame(await plannedGroups(sql, id), [0, 2]);
  });

  await t.test('ahead of the push: as if it had been due', async (t) => {
    const tenant = await makeSpread(sql, 'ahead', [5, 8_192 * 6]);
    const { appId, tagId } = tenant;
    const scopes = [{ appId, platformId: PLATFORM }];
    const audience = { anyTagIds: [tagId], allTagIds: [], noneTagIds: [] };
    const ahead = await surveyAhead(sql, index, { notificationId: 'none yet', audience, scopes });
    const vacant = ahead.vacant.flatMap(({ groupNumbers }) => groupNumbers);
    t.strictSame(
      vacant.sort((a, b) => a - b),
      [1, 2, 3, 4, 5, 7],
    );
    await subscribe(sql, tenant, 8_192 * 4);
    const id = await makeNotification(sql, tenant);
    const survey = {
      notificationIds: [id],
      vacant: ahead.vacant.map((groups) => ({ ...groups, notificationId: id })),
    };
    t.strictSame([...(await planDue(sql, survey))], [{ id, clientId: tenant.clientId, scopes }]);
    t.strictSame(await plannedGroups(sql, id), [0, 4, 6], 'who subscribed since is meant as well');
  });
});
