/** Templates over real HTTP on every store: put and tried out, seen, taken away. */

import type { Test } from 'tap';
import t from 'tap';
import { auditRoute } from '../../../src/audit/routes/audit.ts';
import type { Store } from '../../../src/database/store.ts';
import { TEMPLATE_LENGTH_MAX } from '../../../src/domain/template.ts';
import { appTemplateRoutes } from '../../../src/templates/routes/app-templates.ts';
import { evaluator } from '../../support/evaluator.ts';
import { makeKey } from '../../support/keys.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { openResources } from '../../support/resources.ts';
import { makeTenant } from '../../support/tenant.ts';

const EXPRESSION = '{"title": home & "–" & away, "message": score}';
const SAMPLE = { home: 'FCB', away: 'BVB', score: '1:0' };

async function open(t: Test, store: Store) {
  const { sql, patientReads } = store;
  await sql`insert into access_revision default values on conflict do nothing`;
  const routes = [
    ...appTemplateRoutes({ sql, evaluator, replaceableDefault: true }),
    auditRoute(patientReads),
  ];
  const resources = await openResources(t, store, 'acme', routes);
  const { appId } = resources.tenant;
  const path = (platformId: number) => `apps/${appId}/platforms/${platformId}/template`;
  const put = (platformId: number, body: unknown) => resources.ask('PUT', path(platformId), body);
  return { ...resources, appId, path, put };
}

await onEachStore(t, {
  async 'put, seen, put again, taken away'(t, store) {
    const { ask, path, put } = await open(t, store);
    const none = { platformId: 3, hasTemplate: false };
    t.same((await ask('GET', path(3))).body, none);
    const made = await put(3, { expression: EXPRESSION });
    t.equal(made.status, 200);
    t.match(made.body, {
      platformId: 3,
      hasTemplate: true,
      expression: EXPRESSION,
      updatedAt: Number,
    });
    t.notOk('trial' in made.body);
    t.same((await ask('GET', path(3))).body, made.body);
    t.same((await ask('GET', path(15))).body, { platformId: 15, hasTemplate: false });

    t.equal((await put(3, { expression: '{"title": home}' })).status, 200);
    t.match((await ask('GET', path(3))).body, { expression: '{"title": home}' });
    t.equal((await ask('DELETE', path(3))).status, 204);
    t.equal((await ask('DELETE', path(3))).status, 204, 'twice is once');
    t.same((await ask('GET', path(3))).body, none);
  },

  async 'a sample shows the message'(t, store) {
    const { put } = await open(t, store);
    const { status, body } = await put(3, { expression: EXPRESSION, sample: SAMPLE });
    t.equal(status, 200);
    t.match(body.trial, {
      provider: 'APNs',
      sizeBytes: Number,
      sizeBytesMax: 4_096,
      message: { aps: { alert: { title: 'FCB–BVB', body: '1:0' } } },
    });
    const asText = await put(3, { expression: EXPRESSION, sample: JSON.stringify(SAMPLE) });
    t.same(asText.body.trial, body.trial);
  },

  async 'a preview stores nothing'(t, store) {
    const { ask, path } = await open(t, store);
    const preview = (body: unknown) => ask('POST', `${path(3)}/preview`, body);
    const { status, body } = await preview({ expression: EXPRESSION, sample: SAMPLE });
    t.equal(status, 200);
    t.match(body.trial, { message: { aps: { alert: { title: 'FCB–BVB', body: '1:0' } } } });
    t.same((await preview({ expression: EXPRESSION })).body, {}, 'nothing without a sample');
    const faulty = await preview({ expression: '{"title": }' });
    t.equal(faulty.status, 400);
    t.match(faulty.body.errors, [{ path: 'expression', position: 10 }]);
    t.match((await ask('GET', path(3))).body, { hasTemplate: false });
  },

  async 'those of the client are listed; a key sees those of its apps'(t, store) {
    const { ask, appId, put, tenant } = await open(t, store);
    const { sql } = store;
    await put(15, { expression: EXPRESSION });
    await put(3, { expression: EXPRESSION });
    const stranger = await makeTenant(sql, 'stranger');
    await sql`
      insert into app_templates (app_id, platform_id, expression) values (${stranger.appId}, 3, '$')`;
    const rows = [3, 15].map((platformId) => ({ appId, platformId, updatedAt: Number }));
    const all = await ask('GET', 'templates');
    t.match(all.body, rows);
    t.equal(all.body.length, 2);
    t.match((await ask('GET', 'templates?limit=1')).body, rows.slice(0, 1));
    t.match((await ask('GET', `templates?cursor=${appId}.3`)).body, rows.slice(1));
    const listed = async (limits: object) => {
      const key = await makeKey(sql, tenant, { scopes: ['read'], ...limits });
      return await ask('GET', 'templates', undefined, key);
    };
    t.equal((await listed({ appIds: [appId] })).body.length, 2);
    t.same((await listed({ appIds: [appId + 999] })).body, []);
    t.equal((await listed({ tagIds: [1] })).status, 403);
  },

  async 'what is faulty, or fails on its sample, is not stored'(t, store) {
    const { ask, path, put } = await open(t, store);
    const errors = async (body: unknown) => {
      const answer = await put(3, body);
      t.equal(answer.status, 400);
      return answer.body.errors;
    };
    t.match(await errors({ expression: '{"title": }' }), [
      { path: 'expression', message: /^is not a JSONata expression: .*\(S0/, position: 10 },
    ]);
    t.match(await errors({ expression: EXPRESSION, sample: { home: { a: '\u0000' } } }), [
      { path: 'sample', message: /NUL/ },
    ]);
    t.match(await errors({ expression: '$foo(home)', sample: SAMPLE }), [
      { path: 'sample', message: /of app \d+ on platform 3 \(APNs\) fails .* at position 1: / },
    ]);
    t.match(await errors({ expression: '[1..1e7]', sample: SAMPLE }), [
      { path: 'sample', message: /more than 64 MiB/ },
    ]);
    for (const expression of ['', 3, null, 'x'.repeat(TEMPLATE_LENGTH_MAX + 1), 'a\u0000']) {
      t.match(await errors({ expression }), [
        { path: 'expression', message: /1–16384 characters/ },
      ]);
    }
    t.match(await errors({}), [{ path: 'expression', message: 'is missing' }]);
    t.match(await errors({ expression: 'home', samples: {} }), [{ message: /nearest is sample/ }]);
    t.match((await ask('GET', path(3))).body, { hasTemplate: false });
  },

  async 'of an app of the client, on a platform of it'(t, store) {
    const { ask, appId, put, tenant } = await open(t, store);
    t.equal((await put(7, { expression: EXPRESSION })).status, 404);
    const unknown = `apps/${appId + 999}/platforms/3/template`;
    t.equal((await ask('PUT', unknown, { expression: EXPRESSION })).status, 404);
    const reader = await makeKey(store.sql, tenant, { scopes: ['read'] });
    const path = `apps/${appId}/platforms/3/template`;
    t.equal((await ask('GET', path, undefined, reader)).status, 200);
    t.equal((await ask('PUT', path, { expression: EXPRESSION }, reader)).status, 403);
  },

  async 'who has put and taken it away is in the log'(t, store) {
    const { ask, appId, path, put } = await open(t, store);
    await put(3, { expression: EXPRESSION });
    await put(3, { expression: '{' });
    await ask('DELETE', path(3));
    await ask('DELETE', path(3));
    const { body } = await ask('GET', 'audit?limit=10');
    const object = { kind: 'template', id: `${appId}/3`, name: 'App' };
    t.equal(body.length, 2);
    t.match(body, [
      { action: 'template.delete', object },
      { action: 'template.put', object },
    ]);
    t.notMatch(JSON.stringify(body), /home/, 'what it says is not in the log');
  },

  async 'it goes with the platform of its app'(t, store) {
    const { appId, put } = await open(t, store);
    await put(3, { expression: EXPRESSION });
    await store.sql`delete from app_platforms where app_id = ${appId}`;
    t.strictSame([...(await store.sql`select from app_templates`)], []);
  },
});
