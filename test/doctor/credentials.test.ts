/** Providers' credentials as the watch has seen them, or as the provider says now. */

import t from 'tap';
import { insertApp } from '../../src/catalogue/sql/insert-app.ts';
import { insertClient } from '../../src/clients/insert-client.ts';
import type { SqlPool } from '../../src/database/sql.ts';
import { checkCredentials } from '../../src/doctor/credentials.ts';
import { onEachStore } from '../support/on-each-store.ts';

const NOW = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;

async function makeApp(sql: SqlPool): Promise<number> {
  const clientId = (await insertClient(sql, { slug: 'acme', name: 'Acme' })) ?? 0;
  return insertApp(sql, { clientId, name: 'News', platformIds: [3] });
}

/** A credential on its only platform; nothing here opens it. */
const store = (sql: SqlPool, days: number | null = null) => sql`
  update app_platforms set credential_sealed = '\\x00', credential_key_id = 'k',
    credential_expires_at = ${days === null ? null : new Date(NOW + days * DAY_MS)}`;

await onEachStore(t, {
  'no app, and an app without a credential': async (t, { sql }) => {
    t.match(await checkCredentials(sql, null), [{ level: 'warning', text: /no app yet/ }]);
    const appId = await makeApp(sql);
    const text = new RegExp(
      `app ${appId} on platform 3 has no credential.*app credentials ${appId} apns`,
    );
    t.match(await checkCredentials(sql, null), [{ level: 'warning', text }]);
  },

  'not checked yet, and as its provider says': async (t, { sql }) => {
    const appId = await makeApp(sql);
    await store(sql);
    t.match(await checkCredentials(sql, null), [
      { level: 'warning', text: /not checked.*--probe/ },
    ]);
    const asked: unknown[] = [];
    const said = (isHealthy: boolean | null, note: string) =>
      checkCredentials(sql, (scope) => {
        asked.push(scope);
        return Promise.resolve({ isHealthy, note });
      });
    t.match(await said(true, 'Accepted.'), [{ level: 'ok', text: /Accepted\.$/ }]);
    t.match(await said(false, 'Refused.'), [
      { level: 'problem', text: /Refused\. `tagcast app cred/ },
    ]);
    t.match(await said(null, 'No answer.'), [{ level: 'warning', text: /No answer\.$/ }]);
    const nobody = await said(null, 'Nobody was asked about the key.');
    t.match(nobody, [{ level: 'ok', text: /Nobody was asked about the key\.$/ }]);
    t.same(asked, Array(4).fill({ appId, platformId: 3 }));
  },

  'its end': async (t, { sql }) => {
    await makeApp(sql);
    const endsIn = async (days: number) => {
      await store(sql, days);
      return (await checkCredentials(sql, null, NOW)).slice(1);
    };
    t.same(await endsIn(31), []);
    t.match(await endsIn(29), [{ level: 'warning', text: /ends in 29 days, on 2026-01-30/ }]);
    t.match(await endsIn(-1), [{ level: 'problem', text: /has ended on 2025-12-31/ }]);
  },
});
