/** Each due check is done once, by one of several nodes. */

import { pino } from 'pino';
import type { Test } from 'tap';
import t from 'tap';
import type { SqlPool } from '../../src/database/sql.ts';
import type { Scope } from '../../src/domain/device.ts';
import type { Counts } from '../../src/domain/notification.ts';
import type { Progress } from '../../src/domain/progress.ts';
import { CredentialWatch } from '../../src/provider-credentials/credential-watch.ts';
import { writeProviderCredential } from '../../src/provider-credentials/provider-credentials.ts';
import { writeCheck } from '../../src/provider-credentials/sql/credential-health.ts';
import { addTenant, secrets } from '../support/api.ts';
import { onEachStore } from '../support/on-each-store.ts';
import {
  apnsCredential,
  fcmCredential,
  webPushCredential,
} from '../support/provider-credentials.ts';

const DAY_MS = 86_400_000;
const NOTHING: Counts = { total: 0, delivered: 0, failed: 0, skipped: 0, expired: 0, cancelled: 0 };

const reportOf = (scope: Scope, delivered: number, fault: string | null): Progress => ({
  ...scope,
  kind: 'chunk',
  notificationId: '019a0000-0000-7000-8000-000000000000',
  groupNumber: 0,
  epoch: 1,
  blocks: 1n,
  counts: { ...NOTHING, total: 1, delivered },
  reasons: [],
  retries: [],
  observations: [],
  started: null,
  openDevices: null,
  fault,
  sends: 1,
  sentFromMs: null,
  sentToMs: null,
  releaseAfterMs: null,
});

/** Two nodes, what they asked and what they logged. */
function nodesOn(sql: SqlPool) {
  const asked: Scope[] = [];
  const logged: { readonly msg: string; readonly expiresInDays?: number }[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => void logged.push(JSON.parse(line)) });
  const node = () =>
    new CredentialWatch({
      sql,
      log,
      platformIds: [3, 7, 15],
      async check(scope) {
        asked.push(scope);
        const isUnasked = scope.platformId === 7;
        const result = isUnasked
          ? { isHealthy: null, note: 'Nobody was asked about it.' }
          : { isHealthy: scope.platformId === 3, note: 'It is so.' };
        await writeCheck(sql, scope, result);
        return result;
      },
    });
  return { nodes: [node(), node()] as const, asked, logged };
}

async function tenantOn(sql: SqlPool, expiresAtMs: number | null = null): Promise<number> {
  const { appId } = await addTenant(sql, 'demo');
  const terms = { graceHours: 1, expiresAtMs };
  await writeProviderCredential(sql, secrets, appId, 3, apnsCredential(), terms);
  await writeProviderCredential(sql, secrets, appId, 15, fcmCredential());
  return appId;
}

t.test('on each store', (t) =>
  onEachStore(t, {
    'each credential is asked about once a day, by one node; trouble is logged': async (
      t: Test,
      { sql },
    ) => {
      await tenantOn(sql);
      const { nodes, asked, logged } = nodesOn(sql);
      await Promise.all(nodes.map((node) => node.run()));
      await Promise.all(nodes.map((node) => node.run()));
      t.same(asked.map(({ platformId }) => platformId).sort(), [15, 3]);
      t.match(logged, [{ msg: /does not work/ }]);
      await sql`update credential_health set checked_at = checked_at - interval '26 hours'`;
      await nodes[0].run();
      t.equal(asked.length, 4);
      t.match(nodes[0].states, [
        { platformId: 3, hasCredential: true, isHealthy: true },
        { platformId: 15, isHealthy: false, checkNote: 'It is so.' },
      ]);
    },

    'where nobody can be asked, nothing is logged': async (t: Test, { sql }) => {
      const { appId } = await addTenant(sql, 'web');
      await sql`insert into app_platforms (app_id, platform_id) values (${appId}, 7)`;
      await writeProviderCredential(sql, secrets, appId, 7, webPushCredential());
      const { nodes, asked, logged } = nodesOn(sql);
      await nodes[0].run();
      t.same(asked, [{ appId, platformId: 7 }]);
      t.same(logged, []);
    },

    'a warning 30, 7 and 1 days ahead, once each, and again for its successor': async (
      t: Test,
      { sql },
    ) => {
      const appId = await tenantOn(sql, Date.now() + 40 * DAY_MS);
      const { nodes, logged } = nodesOn(sql);
      const warnings = async (daysLeft: number) => {
        await sql`update app_platforms set credential_expires_at = now() + make_interval(days => ${daysLeft}::int, hours => 1)
          where app_id = ${appId} and platform_id = 3`;
        await Promise.all(nodes.map((node) => node.run()));
        await nodes[0].run();
        return logged.splice(0).filter(({ msg }) => msg.includes('expires soon'));
      };
      t.same(await warnings(40), []);
      t.match(await warnings(29), [{ appId, platformId: 3, expiresInDays: 29 }]);
      t.same(await warnings(20), []);
      t.match(await warnings(6), [{ expiresInDays: 6 }]);
      t.same(await warnings(3), []);
      t.match(await warnings(0), [{ expiresInDays: 0 }]);
      const terms = { graceHours: 1, expiresAtMs: null };
      await writeProviderCredential(sql, secrets, appId, 3, apnsCredential(), terms);
      t.equal((await warnings(5)).length, 1, 'another credential, another warning');
    },

    'what sends show is written with the next run, and when it stops': async (t: Test, { sql }) => {
      const appId = await tenantOn(sql);
      const { nodes } = nodesOn(sql);
      const [node] = nodes;
      node.see(reportOf({ appId, platformId: 3 }, 5, null));
      node.see(reportOf({ appId, platformId: 3 }, 0, null));
      node.see(reportOf({ appId, platformId: 15 }, 0, 'PERMISSION_DENIED'));
      await node.run();
      t.match(node.states, [
        { platformId: 3, acceptedAtMs: Number, fault: null },
        { platformId: 15, acceptedAtMs: null, fault: 'PERMISSION_DENIED', faultAtMs: Number },
      ]);
      node.see(reportOf({ appId, platformId: 15 }, 1, null));
      await node.stop();
      await nodes[1].run();
      t.match(nodes[1].states.at(-1), { acceptedAtMs: Number, fault: 'PERMISSION_DENIED' });
    },
  }),
);
