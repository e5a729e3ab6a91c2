/** Web Push from the operator's first command to what the browser reads, with real processes. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { ProviderAccounts } from '../../packages/simulator/src/accounts.ts';
import type { PushSubscription } from '../../packages/simulator/src/webpush/push-subscriptions.ts';
import { finalStatus, post, push, sumCloses } from '../support/client.ts';
import { until } from '../support/poll.ts';
import { runCommand, startEngine } from '../support/processes.ts';
import { runHere } from '../support/run-here.ts';
import { seedEmbedded } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

t.setTimeout(300_000);

const BROWSERS = 200;
const FCM_TOKENS = 20;

t.test('keys, credential, registration, push: the browser reads the very payload', async (t) => {
  const dataDir = temporaryDirectory(t);
  seedEmbedded(dataDir);
  // Or those that the provider calls dead would have a day in which their app may have come again.
  const engine = await startEngine(t, dataDir, { REGISTRATION_REFRESH_HOURS: '0' });
  const demo = engine.demo();
  const { controlUrl } = demo.simulator;
  const [tagId = 0] = demo.tagIds;
  const command = async (...args: readonly string[]): Promise<string> => {
    const { code, output } = await runHere(args, { DATA_DIR: dataDir });
    if (code !== 0) throw new Error(`${args.join(' ')}: ${output}`);
    return output;
  };

  const adding = ['app', 'add', 'demo', 'Web', '--platform', '7'];
  const { output: added } = await runCommand(t, adding, { DATA_DIR: dataDir });
  const appId = Number(/App (\d+)/.exec(added)?.[1]);
  const token = /Token +(\S+)/.exec(added)?.[1] ?? '';
  const vapidFile = join(dataDir, 'vapid.json');
  const vapid = await command('app', 'vapid');
  writeFileSync(vapidFile, vapid);
  const accountFile = join(dataDir, 'account.json');
  const accounts = (await (
    await fetch(`${controlUrl}/accounts`)
  ).json()) as readonly ProviderAccounts[];
  const { token_uri: _, ...account } = accounts[0]?.fcm.serviceAccount ?? { token_uri: '' };
  writeFileSync(accountFile, JSON.stringify(account));
  const put = await command(
    ...['app', 'credentials', String(appId), 'webpush', '--vapid-file', vapidFile],
    ...['--subject', 'mailto:push@example.com', '--service-account-file', accountFile],
  );
  const { publicKey } = JSON.parse(vapid) as { readonly publicKey: string };
  t.match(put, publicKey, 'the operator is told what web pages subscribe with');

  const made = await fetch(`${controlUrl}/webpush/subscriptions`, {
    method: 'POST',
    body: JSON.stringify({ count: BROWSERS, applicationServerKey: publicKey }),
  });
  const subscriptions = (await made.json()) as readonly PushSubscription[];
  const elsewhere = { ...subscriptions[0], endpoint: 'https://push.example.com/x' };
  const fcmTokens = Array.from({ length: FCM_TOKENS }, (_, index) =>
    index % 2 === 0 ? `web:${index}` : `dRh8_-aBcDeFgHiJkL${1_000 + index}`,
  );
  const devices = [
    ...[...subscriptions, elsewhere].map((one) => JSON.stringify(one)),
    ...fcmTokens,
  ];
  for (const deviceId of devices) {
    const body = { appId, platformId: 7, deviceId, tagId };
    t.equal(await (await post(`${demo.baseUrl}/push-api/reg`, token, body)).text(), 'OK');
  }

  const payload = {
    title: 'Goal! ⚽',
    message: '1:0',
    url: 'https://example.com/game',
    game: 7,
    webpush: { icon: 'https://example.com/icon.png' },
  };
  const firstId = await push(demo.baseUrl, demo, [tagId], payload);
  const rows = await finalStatus(demo.baseUrl, demo, firstId);
  const row = rows.find(({ key }) => key.platformId === 7);
  t.match(row, {
    state: 'FINISHED',
    totalCount: devices.length,
    successCount: devices.length - 1,
    failedCount: 1,
    simulated: true,
  });
  t.ok(rows.every(sumCloses));

  for (const { endpoint } of subscriptions) {
    const id = endpoint.replace(/.*\//, '');
    const { accepted, last } = await received('webpush', id);
    t.equal(accepted, 1);
    t.same(last?.payload, {
      web_push: 8030,
      notification: {
        title: 'Goal! ⚽',
        body: '1:0',
        icon: 'https://example.com/icon.png',
        tag: firstId,
        navigate: 'https://example.com/game',
      },
      title: 'Goal! ⚽',
      body: '1:0',
      url: 'https://example.com/game',
      data: { game: 7 },
      icon: 'https://example.com/icon.png',
      tag: firstId,
      pushId: firstId,
    });
  }
  for (const deviceId of fcmTokens) {
    const { accepted, last } = await received('fcm', deviceId);
    t.equal(accepted, 1);
    t.match(last?.payload, {
      message: {
        [deviceId.includes(':') ? 'token' : 'fid']: deviceId,
        notification: undefined,
        data: {
          title: 'Goal! ⚽',
          message: '1:0',
          url: 'https://example.com/game',
          game: '7',
          icon: 'https://example.com/icon.png',
          tag: firstId,
          pushId: firstId,
        },
        webpush: { notification: undefined },
      },
    });
  }

  async function received(provider: string, device: string) {
    const response = await fetch(
      `${controlUrl}/received/${provider}/${encodeURIComponent(device)}`,
    );
    return (await response.json()) as {
      readonly accepted: number;
      readonly last: { readonly payload: unknown } | null;
    };
  }

  // Some browsers have gone: the next push finds that out, and they are forgotten. (Were it all,
  // the gate would hold them.)
  const behaviour = JSON.stringify({ shares: { gone: 0.1 } });
  await fetch(`${controlUrl}/behaviour`, { method: 'PUT', body: behaviour });
  const id = await push(demo.baseUrl, demo, [tagId], payload);
  const after = await finalStatus(demo.baseUrl, demo, id);
  const browsers = after.find(({ key }) => key.platformId === 7);
  // One of the failed was never asked about.
  const gone = (browsers?.failedCount ?? 0) - 1;
  t.ok(gone > 5, `${gone} are gone`);
  // They registered a moment ago, and might have done so again, unwritten: a push after the first
  // erase reason finds them gone too.
  const left = await until('the dead are erased', async () => {
    await finalStatus(demo.baseUrl, demo, await push(demo.baseUrl, demo, [tagId], payload));
    const body = { tagIds: [tagId], appIds: [appId], dryRun: true, payload };
    const answer = await post(`${demo.baseUrl}/push-api/push`, demo.superUser.token, body);
    const { audience } = (await answer.json()) as {
      readonly audience: readonly { readonly count: number }[];
    };
    const [{ count } = { count: 0 }] = audience;
    return count > devices.length - gone ? null : count;
  });
  t.equal(left, devices.length - gone);
});
