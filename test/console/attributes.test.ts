/** The page Attributes: declared, changed, deleted; and a device's own on the page Devices. */

import t from 'tap';
import { lookAtRoom, openPage, takePicture, withBrowser } from '../support/browser.ts';
import { appOf } from '../support/client.ts';
import { makeConsoleClient } from '../support/console.ts';

t.setTimeout(240_000);

const IOS = 3;
const DEVICE = '6a'.repeat(32);

t.test('attributes', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo, room, signIn } = await makeConsoleClient();
    const { appId } = demo;
    const [tagId = 0] = demo.tagIds;
    const { page, complaints } = await openPage(t, browser);
    await signIn(page);
    const dialog = page.getByRole('dialog');
    const rowOf = (name: string) => page.getByRole('row', { name });

    await t.test('built-in ones stay; one is declared', async (t) => {
      await page.goto(room('attributes'));
      await rowOf('timezone').getByText('Built in').waitFor();
      t.equal(await rowOf('timezone').getByRole('button').count(), 0);
      await page.getByRole('button', { name: 'New attribute' }).click();
      await dialog.getByLabel('Name', { exact: true }).fill('country');
      await dialog.getByLabel('Type').selectOption('Yes or no');
      await dialog.getByRole('button', { name: 'Create attribute' }).click();
      await dialog.getByRole('alert').getByText('is the name of a built-in attribute').waitFor();
      await dialog.getByLabel('Name', { exact: true }).fill('isSubscriber');
      await dialog.getByRole('checkbox', { name: 'Demo' }).check();
      await dialog.getByLabel('Description').fill('Pays for the paper');
      await dialog.getByRole('button', { name: 'Create attribute' }).click();
      await rowOf('isSubscriber').getByText('The app and your servers').waitFor();
      await rowOf('isSubscriber').getByText('Pays for the paper').waitFor();
      await rowOf('isSubscriber').getByText('Demo', { exact: true }).waitFor();
      await lookAtRoom(t, page, 'attributes', room('attributes'));
    });

    await t.test('it is changed', async () => {
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.goto(room('attributes'));
      await page.getByRole('button', { name: 'Change… isSubscriber' }).click();
      await takePicture(page, 'attribute-form');
      await dialog.getByLabel('Set by').selectOption('The app');
      await dialog.getByRole('checkbox', { name: 'Demo' }).uncheck();
      await dialog.getByRole('checkbox', { name: /^Personal/ }).check();
      await dialog.getByRole('button', { name: 'Save' }).click();
      await rowOf('isSubscriber').getByText('The app', { exact: true }).waitFor();
      await rowOf('isSubscriber').getByText('All apps').waitFor();
      await rowOf('isSubscriber').getByText('Yes', { exact: true }).waitFor();
    });

    await t.test('a device shows its own', async () => {
      await appOf(demo).request('POST', '/push-api/reg', {
        body: {
          ...{ appId, platformId: IOS, deviceId: DEVICE, tagId },
          attributes: { language: 'de_CH', isSubscriber: true },
        },
      });
      await page.goto(room('devices'));
      await page.getByLabel('Device token').fill(DEVICE);
      await page.getByRole('button', { name: 'Find device' }).click();
      const facts = page.locator('section', {
        has: page.getByRole('heading', { name: 'Attributes', exact: true }),
      });
      await facts.getByText('Language', { exact: true }).waitFor();
      await facts.getByText('de-CH').waitFor();
      await facts.getByText('isSubscriber', { exact: true }).waitFor();
      await facts.getByText('Personal attributes are covered.').waitFor();
      await takePicture(page, 'device-attributes');
      await facts.getByRole('button', { name: 'Show isSubscriber' }).click();
      await facts.getByText('Yes', { exact: true }).waitFor();
    });

    await t.test('its values are listed with their counts, unless it is personal', async (t) => {
      await page.goto(room('attributes'));
      await page.getByRole('link', { name: 'Language' }).click();
      await rowOf('de-CH').getByText('<5').waitFor();
      await lookAtRoom(t, page, 'attribute', room('attributes/language'));
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.getByLabel('Find a value').fill('fr');
      await page.getByText('No value has this text.').waitFor();
      await page.goto(room('attributes/isSubscriber'));
      await page.getByText('This attribute is personal.').waitFor();
    });

    await t.test('it is deleted, after it was said what happens', async (t) => {
      await page.goto(room('attributes'));
      await page.getByRole('button', { name: 'Delete… isSubscriber' }).click();
      await dialog.getByText(/Its values are removed from all devices/).waitFor();
      await dialog.getByRole('button', { name: 'Delete attribute' }).click();
      await rowOf('isSubscriber').waitFor({ state: 'detached' });
      const url = `${demo.baseUrl}/push-admin-api/v3/${demo.clientId}/attributes/isSubscriber`;
      const headers = { authorization: `Bearer ${demo.superUser.token}` };
      t.equal((await fetch(url, { headers })).status, 404);
    });

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
