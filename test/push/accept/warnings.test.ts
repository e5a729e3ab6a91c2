/** Warnings for the publisher of a push. */

import t from 'tap';
import type { Payload } from '../../../src/domain/notification.ts';
import { warningsOf } from '../../../src/push/accept/warnings.ts';

const scopes = ([3, 15, 7] as const).map((platformId) => ({ appId: 1, platformId }));
const warnings = (payload: Partial<Payload>, on = scopes) =>
  warningsOf(on, { data: {}, ...payload }, null);

t.test('data alone does nothing on iOS', (t) => {
  const data = { x: 1 };
  const [warning, ...others] = warnings({ data });
  t.match(warning, /^On iOS this does nothing: .*without silent the app is not woken\.$/);
  t.same(others, []);
  t.same(warnings({ url: 'https://e', data }).length, 1);
  for (const more of [
    { title: 'a' },
    { badge: 0 },
    { sound: 'a' },
    { silent: true },
    { apns: { aps: { 'content-available': 1 } } },
    { apns: { aps: { alert: 'a' } } },
    { apnsPushType: 'voip' },
  ] as const) {
    t.same(warnings({ data, ...more }), [], JSON.stringify(more));
  }
  t.same(warnings({ data }, scopes.slice(1)), [], 'it does not go there');
  t.end();
});

t.test('what a template made counts where it is', (t) => {
  const on = [...scopes, { appId: 2, platformId: 3 as const }];
  const given = { data: { x: 1 } };
  const made = (payload: Payload) => ({ given: {}, payloads: { '2.3': payload } });
  t.equal(warningsOf(on, { title: 'a', data: {} }, made(given)).length, 1);
  t.equal(warningsOf(on, given, made(given)).length, 1, 'once');
  t.equal(warningsOf(on.slice(3), given, made({ title: 'a', data: {} })).length, 0);
  t.end();
});
