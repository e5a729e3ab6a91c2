/** The events of webhooks, by the transactions of the changes; and the webhooks that get them. */

import t from 'tap';
import type { SqlPool } from '../../src/database/sql.ts';
import type { Store } from '../../src/database/store.ts';
import { transact } from '../../src/database/transact.ts';
import { deviceRef } from '../../src/devices/operation.ts';
import { commitReplacement } from '../../src/devices/replace/replace-commit.ts';
import { carryOutReplacedTokens } from '../../src/devices/replaced-tokens.ts';
import { NO_ATTRIBUTES } from '../../src/domain/device-attributes.ts';
import { writeProviderCredential } from '../../src/provider-credentials/provider-credentials.ts';
import { refuse } from '../../src/provider-credentials/rotation.ts';
import {
  takeExpiryWarnings,
  writeCheck,
  writeUses,
} from '../../src/provider-credentials/sql/credential-health.ts';
import { Ledger } from '../../src/push/ledger/ledger.ts';
import { carryOutDeletions } from '../../src/push/sql/deletions/carry-out.ts';
import { changeState } from '../../src/push/sql/ledger/change-state.ts';
import { planDue } from '../../src/push/sql/notifications/plan-due.ts';
import { systemClock } from '../../src/std/clock.ts';
import { NO_FEED } from '../../src/tag-index/tag-index.ts';
import { recordRemovedTokens } from '../../src/webhooks/record-events.ts';
import { secrets } from '../support/api.ts';
import { silent } from '../support/app-api.ts';
import { chunkReport } from '../support/chunk-report.ts';
import {
  claimChunksOf,
  makeNotification,
  makeRunning,
  makeTenant,
} from '../support/notifications.ts';
import { onEachStore } from '../support/on-each-store.ts';
import { apnsCredential } from '../support/provider-credentials.ts';
import { seedDevices } from '../support/seed.ts';
import { SILENT_JOURNAL } from '../support/silent-journal.ts';
import { makeWebhook } from '../support/webhooks.ts';

const URL = 'https://cms.example/hook';
const NOTHING = { total: 0, delivered: 0, failed: 0, skipped: 0, expired: 0, cancelled: 0 };

interface Told {
  readonly webhookId: number;
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into events of every form.
  readonly data: any;
}

/** Events since the last look. */
const told = async (sql: SqlPool): Promise<readonly Told[]> =>
  (
    await sql<(Told & { readonly id: number })[]>`
      with taken as (delete from webhook_events returning *)
      select id, webhook_id as "webhookId", type, data from taken order by id`
  ).map(({ webhookId, type, data }) => ({ webhookId, type, data }));

await onEachStore(t, {
  'a job that has ended, with its counts': async (t, store) => {
    const { sql } = store;
    const tenant = await makeTenant(sql, 'demo');
    const { id: webhookId } = await makeWebhook(sql, tenant.clientId, URL);
    const id = await makeRunning(sql, tenant, 5);
    await record(store, id, { ...NOTHING, total: 5, delivered: 3, failed: 2 }, null);
    const counts = { skippedCount: 0, expiredCount: 0, cancelledCount: 0 };
    t.same(await told(sql), [
      {
        webhookId,
        type: 'job.finished',
        data: {
          jobId: id,
          state: 'FINISHED',
          totalCount: 5,
          successCount: 3,
          failedCount: 2,
          ...counts,
        },
      },
    ]);
    const failed = await makeNotification(sql, tenant);
    await planDue(sql);
    await record(store, failed, { ...NOTHING, total: 5, failed: 5 }, 'InvalidProviderToken');
    t.match(await told(sql), [{ data: { jobId: failed, state: 'FAILED', failedCount: 5 } }]);

    const nobody = await makeNotification(sql, tenant, { platformIds: [15] });
    await planDue(sql);
    const none = { totalCount: 0, successCount: 0, failedCount: 0, ...counts };
    t.same((await told(sql))[0]?.data, { jobId: nobody, state: 'FINISHED', ...none });

    const cancelled = await makeNotification(sql, tenant);
    await transact(sql, (tx) => changeState(tx, tenant.clientId, cancelled, null, 'cancel'));
    t.match(await told(sql), [{ data: { jobId: cancelled, state: 'CANCELLED' } }]);
  },

  'each webhook of the client that wants it, and no other': async (t, { sql }) => {
    const tenant = await makeTenant(sql, 'demo');
    const other = await makeTenant(sql, 'other');
    await makeWebhook(sql, other.clientId, URL);
    await makeWebhook(sql, tenant.clientId, URL, ['token.removed', 'credential.trouble']);
    const off = await makeWebhook(sql, tenant.clientId, URL);
    await sql`update webhooks set is_enabled = false where id = ${off.id}`;
    const wanting = [
      await makeWebhook(sql, tenant.clientId, URL),
      await makeWebhook(sql, tenant.clientId, URL, ['job.finished']),
    ];
    await makeNotification(sql, tenant);
    await planDue(sql);
    t.same(
      (await told(sql)).map(({ webhookId }) => webhookId),
      wanting.map(({ id }) => id),
    );
  },

  'removed tokens: a million of them are few events': async (t, { sql }) => {
    const tenant = await makeTenant(sql, 'demo');
    const { id: webhookId } = await makeWebhook(sql, tenant.clientId, URL);
    const deviceIds = Array.from({ length: 900 }, (_, n) => `${n}`.padStart(200, 'é"'));
    const { appId, tagId } = tenant;
    await seedDevices(sql, { appId, platformId: 15, tagIds: [tagId], count: 900, deviceIds });
    const jobId = await makeNotification(sql, tenant, { platformIds: [15] });
    await sql`
      update notification_scopes set deletions = 'released' where notification_id = ${jobId}`;
    await sql`
      insert into condemned_devices (notification_id, app_id, platform_id, ordinal, registered_before, is_refusal)
      select ${jobId}, app_id, platform_id, ordinal, now() + interval '1 minute', false from devices where app_id = ${appId}`;
    await sql`update devices set registered_at = now() - interval '10 days'`;
    const scope = { notificationId: jobId, appId, platformId: 15 };
    await carryOutDeletions(sql, scope, 1_000);
    const events = await told(sql);
    t.ok(events.length > 3 && events.length < 10, `${events.length} events`);
    for (const event of events) {
      const { deviceIds: _, ...data } = event.data;
      t.same(
        { ...event, data },
        {
          webhookId,
          type: 'token.removed',
          data: { appId, platformId: 15, jobId, reason: 'dead' },
        },
      );
      t.ok(JSON.stringify(event.data).length < 70_000);
    }
    t.same(events.flatMap(({ data }) => data.deviceIds).sort(), [...deviceIds].sort());
  },

  'without a webhook nothing is written; with the transaction it goes': async (t, { sql }) => {
    const tenant = await makeTenant(sql, 'demo');
    const { appId, tagId } = tenant;
    await seedDevices(sql, { appId, platformId: 3, tagIds: [tagId], count: 1 });
    const jobId = await makeNotification(sql, tenant);
    const devices = [{ appId, platformId: 3, ordinal: 0, reason: 'dead' }] as const;
    await recordRemovedTokens(sql, jobId, devices);
    t.same(await told(sql), []);
    await makeWebhook(sql, tenant.clientId, URL);
    const failing = transact(sql, async (tx) => {
      await recordRemovedTokens(tx, jobId, devices);
      throw new Error('killed');
    });
    await t.rejects(failing, /killed/);
    t.same(await told(sql), []);
    await recordRemovedTokens(sql, jobId, devices);
    t.match(await told(sql), [{ type: 'token.removed' }]);
  },

  'replaced tokens, by the app and by an installation id': async (t, { sql }) => {
    const tenant = await makeTenant(sql, 'demo');
    const { appId, tagId } = tenant;
    await makeWebhook(sql, tenant.clientId, URL);
    const [a, b, c] = ['aa', 'bb', 'cc'].map((octet) => octet.repeat(32));
    const deviceIds = [a ?? '', c ?? ''];
    await seedDevices(sql, { appId, platformId: 3, tagIds: [tagId], count: 2, deviceIds });
    const ref = (deviceId = '') => deviceRef(appId, 3, deviceId);
    const replace = (from?: string, to?: string) =>
      commitReplacement(sql, { device: ref(from), by: ref(to), attributes: NO_ATTRIBUTES }, 100);
    const told1 = (tokens: object[]) => [
      { type: 'token.replaced', data: { appId, platformId: 3, tokens } },
    ];
    t.equal((await replace(a, b)).outcome, 'moved');
    t.match(await told(sql), told1([{ deviceId: a, newDeviceId: b }]));
    t.equal((await replace(b, c)).outcome, 'merged');
    t.match(await told(sql), told1([{ deviceId: b, newDeviceId: c }]));
    t.equal((await replace(b, c)).outcome, 'unchanged');
    t.same(await told(sql), []);

    const installation = 'cabcdefghijklmnopq_-XY';
    const token = `${installation}:APA91b`;
    const seed = { appId, platformId: 15, tagIds: [tagId], count: 2 };
    await seedDevices(sql, { ...seed, deviceIds: [token, installation] });
    await sql`update devices set registered_at = now() - interval '10 days' where device_id = ${token}`;
    const jobId = await makeNotification(sql, tenant, { platformIds: [15] });
    await sql`
      insert into condemned_devices (notification_id, app_id, platform_id, ordinal, registered_before, is_refusal)
      select ${jobId}, app_id, platform_id, ordinal, now(), false from devices where device_id = ${token}`;
    await carryOutReplacedTokens(sql, { notificationId: jobId, appId, platformId: 15 }, -1, 100);
    t.match(await told(sql), [
      {
        type: 'token.replaced',
        data: { platformId: 15, tokens: [{ deviceId: token, newDeviceId: installation }] },
      },
    ]);
  },

  'trouble with a credential: once, until it has worked again': async (t, { sql }) => {
    const { clientId, appId } = await makeTenant(sql, 'demo');
    await makeWebhook(sql, clientId, URL);
    const scope = { appId, platformId: 3 };
    const use = (fault: string | null, wasAccepted = false) =>
      writeUses(sql, [{ ...scope, fault, wasAccepted }]);
    await use('InvalidProviderToken');
    const stopped = { ...scope, trouble: 'send-stopped', note: 'InvalidProviderToken' };
    const trouble = (data: object) => [{ type: 'credential.trouble', data }];
    t.match(await told(sql), trouble(stopped));
    await use('InvalidProviderToken');
    t.same(await told(sql), [], 'it is known');
    await use('TopicDisallowed');
    t.match(await told(sql), trouble({ ...stopped, note: 'TopicDisallowed' }));
    await use(null, true);
    t.same(await told(sql), []);
    await use('TopicDisallowed');
    t.equal((await told(sql)).length, 1, 'it has worked in between');
    await sql`update credential_health set fault_at = fault_at - interval '25 hours', accepted_at = null`;
    await use('TopicDisallowed');
    t.equal((await told(sql)).length, 1, 'after a day without it');

    await writeCheck(sql, scope, { isHealthy: true, note: 'Good.' });
    await writeCheck(sql, scope, { isHealthy: null, note: 'Not asked.' });
    t.same(await told(sql), []);
    await writeCheck(sql, scope, { isHealthy: false, note: 'Refused.' });
    t.match(await told(sql), trouble({ ...scope, trouble: 'check-failed', note: 'Refused.' }));
    await writeCheck(sql, scope, { isHealthy: false, note: 'Refused.' });
    t.same(await told(sql), [], 'it is known');
  },

  'a credential that expires, and one that gave way to the one before': async (t, { sql }) => {
    const { clientId, appId } = await makeTenant(sql, 'demo');
    await makeWebhook(sql, clientId, URL);
    const scope = { appId, platformId: 3 };
    const expiresAtMs = Math.floor(Date.now() + 5 * 86_400_000);
    const terms = { graceHours: 1, expiresAtMs };
    const first = apnsCredential();
    await writeProviderCredential(sql, secrets, appId, 3, first, terms);
    t.match(await takeExpiryWarnings(sql, 7), [{ ...scope, expiresInMs: Number }]);
    const soon = { ...scope, trouble: 'expires-soon', expiresAt: expiresAtMs };
    t.match(await told(sql), [{ type: 'credential.trouble', data: soon }]);
    t.same(await takeExpiryWarnings(sql, 7), []);
    t.same(await told(sql), []);

    await writeProviderCredential(sql, secrets, appId, 3, { ...first, keyId: 'ABCDEFGHIJ' }, terms);
    t.equal(await refuse(sql, scope, 2, 'InvalidProviderToken'), true);
    const used = { ...scope, trouble: 'fallback-used', note: 'InvalidProviderToken' };
    t.match(await told(sql), [{ data: { ...used, expiresAt: Number } }]);
    t.equal(await refuse(sql, scope, 2, 'InvalidProviderToken'), false);
    t.same(await told(sql), []);
  },
});

/** Records the one chunk of a job as done. */
async function record(
  store: Store,
  notificationId: string,
  counts: typeof NOTHING,
  fault: string | null,
): Promise<void> {
  const ledger = new Ledger({
    store,
    feed: NO_FEED,
    leaseMs: 60_000,
    clock: systemClock,
    log: silent,
    journal: SILENT_JOURNAL,
    onRecorded: () => undefined,
  });
  const [chunk] = await claimChunksOf(store.sql, notificationId, 60_000);
  if (chunk === undefined) throw new Error('nothing to claim');
  await ledger.record(chunkReport(chunk, { blocks: -1n, counts, fault, sends: counts.total }));
}
