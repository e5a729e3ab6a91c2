/** A provider that refuses a key: on the operator's page System, and on the page of a device. */

import t from 'tap';
import type { SqlPool } from '../../src/database/sql.ts';
import { addAccount, beginSession } from '../support/accounts.ts';
import {
  axeFaults,
  LOOKS,
  lookAtRoom,
  openPage,
  takePicture,
  withBrowser,
} from '../support/browser.ts';
import { finalStatus, push } from '../support/client.ts';
import { makeConsoleClient, registerDevices } from '../support/console.ts';
import type { Lifetime } from '../support/lifetime.ts';

t.setTimeout(180_000);

const IOS = 3;
const ANDROID = 15;
const OTHER_DEVICE = 'ab'.repeat(32);

/** Keeps the health of an app's credentials as it is: the engine would note the accepted sends. */
async function keepHealth(t: Lifetime, sql: SqlPool, appId: number): Promise<void> {
  const name = `keep_health_of_${appId}`;
  await sql.unsafe(
    `create function ${name}() returns trigger language plpgsql as 'begin return null; end'`,
  );
  await sql.unsafe(`
    create trigger ${name} before insert or update on credential_health
    for each row when (new.app_id = ${appId}) execute function ${name}()`);
  t.teardown(() => sql.unsafe(`drop function ${name} cascade`));
}

t.test('a provider in trouble', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo, service, room, signIn } = await makeConsoleClient('Kurier');
    const { sql } = service.store;
    const [tagId = 0] = demo.tagIds;
    const [token = ''] = await registerDevices(demo, { platformId: IOS, tagId, count: 1 });
    await registerDevices(demo, { platformId: ANDROID, tagId, count: 1 });
    const sent = await push(demo.baseUrl, demo, [tagId], { title: 'Goal!' });
    await finalStatus(demo.baseUrl, demo, sent);
    // The engine writes them once a minute; a simulator refuses no key.
    await sql`
      insert into credential_health as h (app_id, platform_id, accepted_at, fault, fault_at, refused_since)
      values (${demo.appId}, ${IOS}, now() - interval '2 hours', 'InvalidProviderToken', now(), now() - interval '1 hour'),
        (${demo.appId}, ${ANDROID}, now(), null, null, null)
      on conflict (app_id, platform_id) do update set accepted_at = excluded.accepted_at,
        fault = excluded.fault, fault_at = excluded.fault_at, refused_since = excluded.refused_since`;
    await keepHealth(t, sql, demo.appId);
    await sql`
      update notification_scopes set fault = 'InvalidProviderToken'
      where notification_id = ${sent} and platform_id = ${IOS}`;

    await t.test('the operator sees whose it is, why, since when and what failed', async (t) => {
      const { page, complaints } = await openPage(t, browser);
      const operator = await addAccount(sql, { email: 'ops@kurier.example', isOperator: true });
      const [name = '', value = ''] = (await beginSession(sql, operator)).cookie.split('=');
      await page.context().addCookies([{ name, value, url: demo.baseUrl, httpOnly: true }]);
      await lookAtRoom(t, page, 'system-trouble', `${demo.baseUrl}/console/#/system`);
      await page.setViewportSize(LOOKS.light.viewport);
      const row = (platform: string) =>
        page
          .getByRole('region', { name: 'Providers', exact: true })
          .getByRole('row', { name: `Demo, ${platform} Client: Kurier` });
      const ios = (await row('iOS').textContent()) ?? '';
      t.match(ios, /Refused/);
      t.match(ios, /Since .*\d+:\d\d.*InvalidProviderToken: /);
      t.match(ios, /2 hours ago/);
      t.match(ios, /1,\s+last .*\d+:\d\d/);
      const android = (await row('Android').textContent()) ?? '';
      t.match(android, /Works.*(now|seconds? ago).*None/);
      t.notMatch(android, /Not tested/);
      t.strictSame(complaints, []);
    });

    const { page, complaints } = await openPage(t, browser);
    await signIn(page);
    const look = async (platform: string, deviceId: string) => {
      await page.goto(room('devices'));
      await page.getByLabel('App, Platform').selectOption(`Demo, ${platform}`);
      await page.getByLabel('Device token').fill(deviceId);
      await page.getByRole('button', { name: 'Find device' }).click();
    };

    await t.test('a device that cannot be reached says why, and since when', async (t) => {
      await page.goto(room('devices'));
      const reached = page.getByRole('region', { name: 'Reachable devices' });
      await reached.getByRole('row', { name: /Demo iOS 1 .*Key refused/ }).waitFor();
      await look('iOS', token);
      await page
        .getByText(/This device cannot be reached: sends to iOS have been refused since .*\d+:\d\d/)
        .waitFor();
      await page.getByText('InvalidProviderToken: ').waitFor();
      for (const [look, options] of Object.entries(LOOKS)) {
        await page.emulateMedia({ colorScheme: options.colorScheme });
        await page.setViewportSize(options.viewport);
        t.strictSame(await axeFaults(page), [], look);
        await takePicture(page, `device-trouble-${look}`);
      }
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize(LOOKS.light.viewport);
    });

    await t.test('it gets a test, and the answer is shown', async (t) => {
      await page.getByRole('button', { name: 'Send a test…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Send a test' });
      await dialog.getByLabel('Title').fill('Only you');
      t.strictSame(await axeFaults(page), []);
      await dialog.getByRole('button', { name: 'Send test' }).click();
      await dialog.getByText('The provider accepted it.').waitFor();
      const received = await fetch(`${demo.simulator.controlUrl}/received/apns/${token}`);
      t.match(await received.json(), { accepted: 2 });
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    });

    await t.test('the way to the key', async () => {
      await page.getByRole('link', { name: 'Check the key' }).click();
      await page.getByText(/Since .*\d+:\d\d.*: InvalidProviderToken/).waitFor();
    });

    await t.test('one that is not there is not said to fail', async () => {
      await look('Android', OTHER_DEVICE);
      await page.getByText('No such device is registered').waitFor();
    });

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
