/** Pushes in several languages, over HTTP and on both stores: tags, sizes, what is shown. */

import type { Test } from 'tap';
import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import { writeTemplate } from '../../../src/templates/templates.ts';
import type { Answered } from '../../support/jobs-api.ts';
import { startJobsApi } from '../../support/jobs-api.ts';
import { makeTag } from '../../support/notifications.ts';
import { onEachStore } from '../../support/on-each-store.ts';

const LANGUAGES = { 'lang-de': 'de', 'lang-fr': 'fr', default: 'en' };
const GOAL = { languages: LANGUAGES, title: { en: 'Goal!', de: 'Tor!', fr: 'But !' } };

async function open(t: Test, store: Store) {
  const api = await startJobsApi(t, store, 'acme');
  const { clientId } = api.tenant;
  const german = await makeTag(store.sql, clientId, { sourceId: 'lang-de' });
  const french = await makeTag(store.sql, clientId, { sourceId: 'lang-fr' });
  const stored = async (id: string) => {
    const [row] = await store.sql`select payload, templated from notifications where id = ${id}`;
    return row;
  };
  return { ...api, german, french, stored };
}

const messagesOf = ({ status, body }: Answered, t: Test): readonly string[] => {
  t.equal(status, 400);
  return body.errors.map(({ path, message }: Record<string, string>) => `${path} ${message}`);
};

await onEachStore(t, {
  async 'each language has its tag and its payload'(t, store) {
    const { push, stored, call, german, french } = await open(t, store);
    const id = await push({ payload: GOAL });
    t.match(await stored(id), {
      payload: {
        title: 'Goal!',
        languages: [
          { tagSourceId: 'lang-de', tagId: german, payload: { title: 'Tor!' } },
          { tagSourceId: 'lang-fr', tagId: french, payload: { title: 'But !' } },
        ],
      },
    });
    const { body } = await call('GET', `/${id}`);
    t.same(body.givenPayload, GOAL);
    t.same(body.payload, {
      title: 'Goal!',
      languages: { 'lang-de': { title: 'Tor!' }, 'lang-fr': { title: 'But !' } },
    });
    const again = await push({ payload: body.givenPayload });
    t.same((await stored(again))?.['payload'], (await stored(id))?.['payload']);
    t.match(await call('GET', ''), { body: [{ title: 'Goal!' }, { title: 'Goal!' }] });
  },

  async 'an unknown or foreign tag is refused, an expired one is nobody'(t, store) {
    const { call, push, stored, tenant, french } = await open(t, store);
    const foreign = await startJobsApi(t, store, 'foreign');
    await makeTag(store.sql, foreign.tenant.clientId, { sourceId: 'lang-xx' });
    const languages = { ...LANGUAGES, 'lang-xx': 'fr' };
    const refused = { tagIds: [tenant.tagId], payload: { ...GOAL, languages } };
    const wanted = ['payload.languages There is no tag with the sourceId "lang-xx".'];
    t.strictSame(messagesOf(await call('POST', '', refused), t), wanted);
    t.strictSame(messagesOf(await call('POST', '/preview', refused), t), wanted);
    t.strictSame(messagesOf(await call('POST', '', { ...refused, dryRun: true }), t), wanted);
    await store.sql`update tags set expires_at_ms = 1 where source_id = 'lang-de'`;
    const row = await stored(await push({ payload: GOAL }));
    t.match(row?.['payload'].languages, [{ tagId: french }]);
    t.equal(row?.['payload'].languages.length, 1);
  },

  async 'each language is measured, and shown before it is sent'(t, store) {
    const { call, tenant } = await open(t, store);
    const long = { ...GOAL, title: { ...GOAL.title, de: 'x'.repeat(5_000) } };
    const tagIds = [tenant.tagId];
    t.match(messagesOf(await call('POST', '', { tagIds, payload: long }), t), [
      /bytes once rendered for platform 3 \(APNs\); the limit is 4096, in the language of "lang-de"/,
      /for platform 15 \(FCM\); the limit is 4096, in the language of "lang-de"/,
    ]);
    const shown = await call('POST', '/preview', { tagIds, payload: GOAL });
    t.equal(shown.status, 200);
    t.match(shown.body.preview[0], {
      platformId: 3,
      message: { aps: { alert: { title: 'Goal!' } } },
      languages: [
        {
          tagSourceId: 'lang-de',
          sizeBytes: Number,
          message: { aps: { alert: { title: 'Tor!' } } },
        },
        { tagSourceId: 'lang-fr', message: { aps: { alert: { title: 'But !' } } } },
      ],
    });
  },

  async 'a template may make several languages of one payload'(t, store) {
    const { push, stored, tenant, german } = await open(t, store);
    const expression =
      '{"languages": {"lang-de": "de", "default": "en"}, "title": {"en": "Goal for " & team, "de": "Tor für " & team}}';
    for (const platformId of [3, 15]) {
      await writeTemplate(store.sql, { appId: tenant.appId, platformId }, expression);
    }
    const row = await stored(await push({ payload: { team: 'FCB' } }));
    t.match(row?.['templated'].payloads[`${tenant.appId}.3`], {
      title: 'Goal for FCB',
      languages: [{ tagId: german, payload: { title: 'Tor für FCB' } }],
    });
  },
});
