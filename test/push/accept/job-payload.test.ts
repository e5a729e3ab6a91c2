/** The part of its payload that a job keeps, over HTTP and on both stores. */

import t from 'tap';
import { NIL } from 'uuid';
import { JOB_PAYLOAD_BYTES_MAX } from '../../../src/push/accept/job-payload.ts';
import { writeTemplate } from '../../../src/templates/templates.ts';
import { startJobsApi } from '../../support/jobs-api.ts';
import { makeTag } from '../../support/notifications.ts';
import { onEachStore } from '../../support/on-each-store.ts';

/** The longest payload; 180 KB. */
const LARGE = { data: { large: '€'.repeat(60_000) } };
const APPS = 100;

await onEachStore(t, {
  async 'parts for other platforms are left out'(t, store) {
    const api = await startJobsApi(t, store, 'acme');
    const { sql } = store;
    await sql`delete from app_platforms where app_id = ${api.tenant.appId} and platform_id <> 3`;
    const keptOf = async (payload: object) => {
      const id = await api.push({ payload });
      const [row] = await sql`select payload, templated from notifications where id = ${id}`;
      return row;
    };
    const own = { apns: { aps: { alert: 'goal!' } } };
    t.same(await keptOf({ ...own, fcm: LARGE }), {
      payload: { ...own, data: {} },
      templated: null,
    });

    await makeTag(sql, api.tenant.clientId, { sourceId: 'lang-de' });
    const languages = { 'lang-de': 'de', default: 'en' };
    const localised = { languages, title: { de: 'Tor!', en: 'Goal!' }, ...own };
    t.same((await keptOf({ ...localised, webpush: { icon: 'i' } }))?.['payload'], {
      ...own,
      title: 'Goal!',
      data: {},
      languages: [
        {
          tagSourceId: 'lang-de',
          tagId: await tagIdOf('lang-de'),
          payload: { ...own, title: 'Tor!', data: {} },
        },
      ],
    });

    const scope = { appId: api.tenant.appId, platformId: 3 };
    await writeTemplate(sql, scope, '{"title": title, "apns": apns, "fcm": fcm}');
    const templated = await keptOf({ title: 'goal!', ...own, fcm: { a: 1 } });
    t.match(templated, { templated: { given: { title: 'goal!', ...own, fcm: { a: 1 } } } });
    t.same(templated?.['templated'].payloads, {
      [`${scope.appId}.3`]: { title: 'goal!', ...own, data: {} },
    });
    t.same(templated?.['payload'], { title: 'goal!', data: {} }, 'which goes nowhere');

    async function tagIdOf(sourceId: string) {
      const [tag] = await sql`
        select id from tags where client_id = ${api.tenant.clientId} and source_id = ${sourceId}`;
      return tag?.['id'];
    }
  },

  async 'it keeps whether an alert is replaceable by default, and does not show that'(t, store) {
    const api = await startJobsApi(t, store, 'acme', { replaceableDefault: false });
    const { sql } = store;
    const id = await api.push({ payload: { title: 'Goal!' } });
    const [row] = await sql`select payload from notifications where id = ${id}`;
    t.same(row?.['payload'], { title: 'Goal!', data: {}, replaceableDefault: false });
    const job = await api.call('GET', `/${id}`);
    t.strictSame(job.body.payload, { title: 'Goal!' }, 'it can be submitted again as it is');

    const android = async (payload: object) => {
      const body = { tagIds: [api.tenant.tagId], platformIds: [15], payload };
      const { preview } = (await api.call('POST', '/preview', body)).body;
      return preview[0].message.android;
    };
    t.equal(await android({ title: 'Goal!' }), undefined);
    const asked = { title: 'Goal!', present: { replaceable: true } };
    t.same(await android(asked), { notification: { tag: NIL } }, 'the id of the job is to come');
    const scope = { appId: api.tenant.appId, platformId: 15 };
    await writeTemplate(sql, scope, '{"title": title}');
    t.equal(await android({ title: 'Goal!' }), undefined);
  },

  async 'what it keeps has one bound, with all that templates make'(t, store) {
    const api = await startJobsApi(t, store, 'acme');
    const { sql } = store;
    await sql`
      with app as (
        insert into apps (client_id, name)
        select ${api.tenant.clientId}, 'App' from generate_series(1, ${APPS}::integer) returning id
      )
      insert into app_platforms (app_id, platform_id) select id, 3 from app`;
    const scopes = await sql<{ appId: number; platformId: number }[]>`
      select app_id as "appId", platform_id as "platformId" from app_platforms where platform_id = 3
      order by app_id`;
    for (const scope of scopes) {
      await writeTemplate(sql, scope, '{"title": $pad("", length, "x")}');
    }
    const body = (length: number) => ({ tagIds: [api.tenant.tagId], payload: { length } });
    const tooLarge = {
      status: 400,
      body: {
        errors: [{ path: 'payload', message: `is more than ${JOB_PAYLOAD_BYTES_MAX} bytes` }],
      },
    };
    t.match(await api.call('POST', '', body(3_000)), tooLarge);
    t.match(await api.call('POST', '', { ...body(3_000), dryRun: true }), tooLarge);
    t.match(await api.call('POST', '/preview', body(3_000)), tooLarge);
    t.equal((await api.call('POST', '', body(2_000))).status, 202);
    const appIds = scopes.slice(-60).map(({ appId }) => appId);
    const fits = { ...body(2_000), appIds };
    t.equal((await api.call('POST', '', fits)).status, 202);
    const given = { ...fits, payload: { ...fits.payload, fcm: LARGE } };
    t.match(await api.call('POST', '', given), tooLarge, 'what it was given is kept too');
  },
});
