/**
 * Sent notifications: the list by its filters, the outcome of each, and the charts of tag and app.
 */

import t from 'tap';
import {
  readProviderCredential,
  writeProviderCredential,
} from '../../src/provider-credentials/provider-credentials.ts';
import { secrets } from '../support/api.ts';
import type { Page } from '../support/browser.ts';
import { axeFaults, LOOKS, openPage, takePicture, withBrowser } from '../support/browser.ts';
import { finalStatus, post, push } from '../support/client.ts';
import { makeConsoleClient, registerDevices } from '../support/console.ts';
import { listsOn } from '../support/console-list.ts';
import { until } from '../support/poll.ts';

t.setTimeout(180_000);

const IOS = 3;
const ANDROID = 15;
const DEVICES = 20;
const ANDROIDS = 4;
const TAGS = 45;
const DAY_MS = 86_400_000;
/** A day of the browser's zone, which is this machine's, as an input and an address have it. */
const dayOf = (atMs: number): string => {
  const at = new Date(atMs);
  return [at.getFullYear(), at.getMonth() + 1, at.getDate()]
    .map((part) => `${part}`.padStart(2, '0'))
    .join('-');
};

t.test('history and statistics', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo, room, signIn, service } = await makeConsoleClient();
    const [tagId = 0] = demo.tagIds;
    const made = await post(
      `${demo.baseUrl}/push-admin-api/v3/${demo.clientId}/apps`,
      demo.superUser.token,
      {
        name: 'Kurier',
        platformIds: [IOS],
      },
    );
    const other = (await made.json()) as {
      readonly id: number;
      readonly apiUser: { readonly token: string };
    };
    await registerDevices(demo, { platformId: IOS, tagId, count: DEVICES });
    const send = (title: string, more: Readonly<Record<string, unknown>> = {}) =>
      push(demo.baseUrl, demo, [tagId], { title }, more);
    const goal = await send('Goal!', { appIds: [demo.appId] });
    await finalStatus(demo.baseUrl, demo, goal);
    await send('Tomorrow', { appIds: [demo.appId], sendAt: Date.now() + DAY_MS });
    const elsewhere = await send('Elsewhere', { appIds: [other.id] });
    await finalStatus(demo.baseUrl, demo, elsewhere);

    const { page, complaints } = await openPage(t, browser);
    await signIn(page);
    const rows = page.getByRole('region', { name: 'Notifications' }).getByRole('rowheader');
    const lists = listsOn(page);
    let halfSent = '';

    await t.test('by app, state and date, each in the address', async (t) => {
      const nowMs = Date.now();
      await page.goto(room('notifications'));
      await lists('Elsewhere', 'Tomorrow', 'Goal!');
      await page.getByLabel('App').selectOption({ label: 'Demo' });
      await lists('Tomorrow', 'Goal!');
      await page.getByLabel('Status').selectOption({ label: 'Scheduled' });
      await lists('Tomorrow');
      await page.getByLabel('Status').selectOption({ label: 'Sent' });
      await lists('Goal!');
      await page.getByLabel('From').fill(dayOf(nowMs + DAY_MS));
      await lists();
      await page.getByLabel('From').fill(dayOf(nowMs - DAY_MS));
      await lists('Goal!');
      await page.getByLabel('To').fill(dayOf(nowMs - DAY_MS));
      await lists();
      // The day itself is within.
      await page.getByLabel('To').fill(dayOf(nowMs + DAY_MS));
      await lists('Goal!');
      const query = new URLSearchParams(page.url().split('?')[1]);
      t.strictSame(Object.fromEntries(query), {
        appId: `${demo.appId}`,
        state: 'FINISHED',
        from: dayOf(nowMs - DAY_MS),
        to: dayOf(nowMs + DAY_MS),
      });
    });

    await t.test('a link with filters keeps them: reloaded, and on the way back', async (t) => {
      const link = page.url();
      const values = () =>
        Promise.all(
          ['App', 'Status', 'From', 'To'].map((name) => page.getByLabel(name).inputValue()),
        );
      const chosen = await values();
      t.ok(chosen.every((value) => value !== ''));
      // The apps come by a request of their own.
      const areChosen = async () => ((await values()).join() === chosen.join() ? true : null);
      await page.reload();
      await lists('Goal!');
      await until('the filters are as they were, after a reload', areChosen);
      await rows.getByRole('link', { name: 'Goal!' }).click();
      await page.getByRole('heading', { name: 'Goal!' }).waitFor();
      await page.goBack();
      await lists('Goal!');
      t.equal(page.url(), link);
      await until('the filters are as they were, on the way back', areChosen);
    });

    await t.test('one of them: its outcomes and what happened to it', async (t) => {
      await page.goto(room(`notifications/${goal}`));
      const platforms = page.getByRole('region', { name: 'By app and platform' });
      await platforms.getByRole('row', { name: /Demo iOS .*100%.*20.* 0 Sent/ }).waitFor();
      const happened = page.locator('ol.timeline li');
      await happened.filter({ hasText: 'Ended · Sent' }).waitFor();
      const order = (await happened.allTextContents()).map((text) =>
        ['Submitted', 'First device', 'Last device', 'Ended'].findIndex((what) =>
          text.includes(what),
        ),
      );
      t.strictSame(order, [0, 1, 2, 3]);
    });

    await t.test('the charts of a tag and of an app have what was sent', async (t) => {
      for (const path of [`tags/${tagId}`, `apps/${demo.appId}/statistics`]) {
        await page.goto(room(path));
        const chart = page.getByRole('img', { name: 'Accepted and failed sends by day.' });
        await chart.locator('canvas').waitFor();
        t.ok(await hasInk(page), `${path}: something is drawn`);
        const table = page.getByRole('table', { name: 'Accepted and failed sends by day.' });
        t.match(await table.textContent(), new RegExp(`Accepted ${DEVICES}`), path);
        const comings = page.getByRole('table', { name: 'New and lost devices' });
        t.match(await comings.textContent(), new RegExp(`new ${DEVICES}`), path);
      }
    });

    await t.test(
      'what failed on one platform is said first, with the way to its key',
      async (t) => {
        const device = { appId: other.id, platformId: IOS, deviceId: 'ef'.repeat(32), tagId };
        await post(`${demo.baseUrl}/push-api/reg`, other.apiUser.token, device);
        const job = await send('Half of it');
        await finalStatus(demo.baseUrl, demo, job);
        const failed = await send('None of it', { appIds: [other.id] });
        t.match(await finalStatus(demo.baseUrl, demo, failed), [{ state: 'FAILED' }]);
        await page.goto(room('notifications'));
        const row = page.getByRole('row', { name: 'Half of it' });
        await row.getByText('Partly failed: iOS').waitFor();
        await page.getByLabel('Status').selectOption({ label: 'Partly failed' });
        await lists('Half of it');
        await page.reload();
        await lists('Half of it');
        await rows.getByRole('link', { name: 'Half of it' }).click();
        await page.getByText('Kurier, iOS: failed').waitFor();
        await page.getByText('Partly failed: iOS').first().waitFor();
        const reasons = page.getByRole('region', { name: 'Failure reasons' });
        await reasons.getByText('There is no key for this platform').waitFor();
        for (const [look, options] of Object.entries(LOOKS)) {
          await page.emulateMedia({ colorScheme: options.colorScheme });
          await page.setViewportSize(options.viewport);
          t.strictSame(await axeFaults(page), [], look);
          await takePicture(page, `partly-failed-${look}`);
        }
        t.ok(await reasons.getByText('MissingCredential').isVisible(), 'its code, on a phone too');
        await reasons.getByRole('link', { name: 'Upload one on the app’s page.' }).click();
        await page.getByRole('heading', { name: 'Kurier', level: 1 }).waitFor();
        await page.goBack();
        await page.getByRole('link', { name: 'Check the key' }).click();
        t.match(page.url(), new RegExp(`/apps/${other.id}/platforms$`));
        halfSent = job;
        await page.emulateMedia({ colorScheme: 'light' });
        await page.setViewportSize(LOOKS.light.viewport);
      },
    );

    await t.test('when its key is there, it is sent again to those who failed', async (t) => {
      const { sql } = service.store;
      const apns = await readProviderCredential(sql, secrets, demo.appId, IOS);
      if (apns.kind !== 'opened') throw new Error(apns.kind);
      await writeProviderCredential(sql, secrets, other.id, IOS, apns.credential);
      await page.goto(room(`notifications/${halfSent}`));
      await page.getByRole('button', { name: 'Retry 1 failed (iOS)…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Send it again on iOS?' });
      await dialog.getByText('1 device failed.').waitFor();
      t.strictSame(await axeFaults(page), []);
      await takePicture(page, 'retry');
      await dialog.getByRole('button', { name: 'Send again' }).click();
      await page.getByText('a retry of').waitFor();
      const platforms = page.getByRole('region', { name: 'By app and platform' });
      await platforms.getByRole('row', { name: /Kurier iOS .*100%.*1.* 0 Sent/ }).waitFor();
      t.equal(await platforms.getByRole('row', { name: /Demo/ }).count(), 0, 'nobody twice');
      await page.getByRole('link', { name: 'this notification' }).click();
      await page.getByRole('link', { name: 'retry 1' }).waitFor();
    });

    await t.test('it is repeated for the platform that failed alone', async (t) => {
      await registerDevices(demo, { platformId: ANDROID, tagId, count: ANDROIDS });
      const credentials = `${demo.baseUrl}/push-admin-api/v3/${demo.clientId}/apps/${demo.appId}/platforms/${ANDROID}`;
      const headers = { Authorization: `Bearer ${demo.superUser.token}` };
      t.ok((await fetch(credentials, { method: 'DELETE', headers })).ok);
      const job = await send('Only on phones with keys', { appIds: [demo.appId] });
      await finalStatus(demo.baseUrl, demo, job);
      await page.goto(room(`notifications/${job}`));
      await page.getByText('Demo, Android: failed').waitFor();
      await page.getByRole('button', { name: 'Duplicate for Android only' }).click();
      await page.getByRole('heading', { name: `${ANDROIDS} devices`, exact: true }).waitFor();
      const scopes = page.getByText('Goes to Demo, on Android');
      await scopes.click();
      t.ok(await page.getByRole('checkbox', { name: 'Android' }).isChecked());
      t.notOk(await page.getByRole('checkbox', { name: 'iOS' }).isChecked());
      for (const [look, options] of Object.entries(LOOKS)) {
        await page.emulateMedia({ colorScheme: options.colorScheme });
        await page.setViewportSize(options.viewport);
        t.strictSame(await axeFaults(page), [], look);
        await takePicture(page, `send-scopes-${look}`);
      }
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize(LOOKS.light.viewport);
      await page.getByRole('checkbox', { name: 'iOS' }).check();
      await page
        .getByRole('heading', { name: `${DEVICES + ANDROIDS} devices`, exact: true })
        .waitFor();
      await page.getByRole('checkbox', { name: 'iOS' }).uncheck();
      await page.getByRole('button', { name: `Send to ${ANDROIDS} devices…` }).click();
      const dialog = page.getByRole('dialog', { name: `Send to ${ANDROIDS} devices?` });
      t.match(await dialog.locator('dl.facts').textContent(), /AppsDemo.*PlatformsAndroid/s);
      await page.keyboard.press('Escape');
      await page.goto(room(`notifications/${goal}`));
      await page.getByRole('button', { name: 'Duplicate', exact: true }).click();
      await page.getByText('Goes to Demo, on every platform').waitFor();
      const apps = /\/push-admin-api\/v3\/[^/]+\/apps$/;
      await page.route(apps, (asked) => asked.fulfill({ json: [] }));
      await page.goto(room(`notifications/${job}`));
      await page.getByText('Its apps are deleted').waitFor();
      t.equal(
        await page.getByRole('button', { name: /^Duplicate/ }).count(),
        0,
        'not to every app',
      );
      await page.unroute(apps);
    });

    await t.test('of many tags those are asked for that are shown', async (t) => {
      const tags = Array.from({ length: TAGS }, (_, index) => ({
        name: `Club ${index}`,
        sourceId: `club-${index}`,
      }));
      const url = `${demo.baseUrl}/push-admin-api/tag/add/${demo.clientId}`;
      t.equal((await post(url, demo.superUser.token, { tags })).ok, true);
      const list = await fetch(
        `${demo.baseUrl}/push-admin-api/v3/${demo.clientId}/tags?limit=1000&q=Club`,
        {
          headers: { Authorization: `Bearer ${demo.superUser.token}` },
        },
      );
      const ids = ((await list.json()) as readonly { readonly id: number }[]).map(({ id }) => id);
      t.equal(ids.length, TAGS);
      const job = await push(demo.baseUrl, demo, ids, { title: 'Many' });
      let asked = 0;
      page.on('request', (request) => {
        const ids = new URL(request.url()).searchParams.get('ids');
        if (ids !== null) asked += ids.split(',').length;
      });
      await page.goto(room(`notifications/${job}`));
      await page.getByRole('button', { name: 'and 25 more' }).click();
      await page.getByRole('button', { name: 'and 5 more' }).waitFor();
      await page.getByText('Club 39', { exact: false }).waitFor();
      t.equal(asked, 40, `${asked} were asked for`);
    });

    await t.test('its text is replaced on the devices that have it, and taken back', async (t) => {
      await page.goto(room(`notifications/${goal}`));
      const open = async (name: string, title: string, picture: string) => {
        await page.getByRole('button', { name }).click();
        const dialog = page.getByRole('dialog', { name: title });
        await dialog.getByText(`${DEVICES} devices have it.`).waitFor();
        for (const [look, options] of Object.entries(LOOKS)) {
          await page.emulateMedia({ colorScheme: options.colorScheme });
          await page.setViewportSize(options.viewport);
          t.strictSame(await axeFaults(page), [], look);
          await takePicture(page, `${picture}-${look}`);
        }
        await page.emulateMedia({ colorScheme: 'light' });
        await page.setViewportSize(LOOKS.light.viewport);
        return dialog;
      };
      const correct = await open('Correct…', 'Correct this notification?', 'correct');
      await correct.getByLabel('Title').fill('Goal! 2:0');
      await correct.getByRole('button', { name: 'Send correction' }).click();
      await page.getByText('a correction of').waitFor();
      await page.getByRole('heading', { name: 'Goal! 2:0' }).waitFor();
      const platforms = page.getByRole('region', { name: 'By app and platform' });
      await platforms.getByRole('row', { name: /Demo iOS .*100%.*20.* 0 Sent/ }).waitFor();
      await page.getByRole('link', { name: 'this notification' }).click();
      await page.getByRole('link', { name: 'correction 1' }).waitFor();
      const retract = await open('Retract…', 'Retract this notification?', 'retract');
      await retract.getByRole('button', { name: 'Retract' }).click();
      await page.getByText('a retraction of').waitFor();
      await platforms.getByRole('row', { name: /Demo iOS .*100%.*20.* 0 Sent/ }).waitFor();
      t.equal(await page.getByRole('button', { name: 'Correct…' }).count(), 0);
    });

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);

/** Whether the first chart has bars: pixels of the colour of what was accepted. */
const hasInk = async (page: Page): Promise<boolean> =>
  (await page.evaluate(`(() => {
    const canvas = document.querySelector('.plot canvas');
    const probe = document.createElement('i');
    probe.style.color = 'var(--accepted)';
    document.querySelector('.plot').append(probe);
    const wanted = getComputedStyle(probe).color.match(/[0-9]+/g).slice(0, 3).join();
    probe.remove();
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    for (let at = 0; at < data.length; at += 4) {
      if (data.slice(at, at + 3).join() === wanted) return true;
    }
    return false;
  })()`)) as boolean;
