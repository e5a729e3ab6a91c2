/** A notification in several languages: composed, previewed, kept as a draft, sent. */

import t from 'tap';
import { axeFaults, LOOKS, openPage, takePicture, withBrowser } from '../support/browser.ts';
import { finalStatus, post } from '../support/client.ts';
import { makeConsoleClient, registerDevices } from '../support/console.ts';
import { until } from '../support/poll.ts';

t.setTimeout(240_000);

t.test('several languages of a text', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo, room, signIn } = await makeConsoleClient();
    const [tagId = 0] = demo.tagIds;
    await registerDevices(demo, { platformId: 3, tagId, count: 2 });
    const tag = async (name: string, more: object): Promise<void> => {
      const path = `/push-admin-api/v3/${demo.clientId}/tags`;
      const answer = await post(demo.baseUrl + path, demo.superUser.token, { name, ...more });
      if (!answer.ok) throw new Error(await answer.text());
    };
    await tag('German', { sourceId: 'lang-de' });
    await tag('Nameless', {});
    const { page, complaints } = await openPage(t, browser);
    await signIn(page);
    const shows = (text: string | RegExp) => page.getByText(text).first().waitFor();
    const german = page.locator('section.sheet').filter({ hasText: 'Remove' });
    const pick = async (name: string): Promise<void> => {
      await german.getByRole('combobox').fill(name);
      await german.getByRole('option', { name }).first().click();
      await german.getByLabel('Title', { exact: true }).focus();
    };

    await t.test('the page says what is missing', async (t) => {
      await page.goto(room('send'));
      await page.getByRole('button', { name: 'Advanced (expression)' }).click();
      await page.getByLabel('Expression', { exact: true }).fill(`#${tagId}`);
      await page.getByLabel('Title', { exact: true }).fill('Goal!');
      await page.getByRole('button', { name: 'Add a language' }).click();
      const own = page.getByLabel('Language of the text above');
      t.equal(await own.inputValue(), 'en', 'that of the browser');
      await shows('Name each language.');
      await german.getByLabel('Language', { exact: true }).fill('en');
      await shows('en is there twice.');
      await german.getByLabel('Language', { exact: true }).fill('de');
      await shows('Choose a tag for de.');
      await pick('Nameless');
      await shows('Nameless has no source ID. Give it one on its page.');
      await page.getByRole('button', { name: 'Remove Nameless' }).click();
      await pick('German');
      await shows('Write a text in de.');
      await german.getByLabel('Message').fill('Eins zu null');
      await shows('The message is written in de only. Write it in the default language too.');
      t.ok(await page.getByRole('button', { name: /^Send to 2/ }).isDisabled());
      await page.getByLabel('Message').first().fill('One to nil');
      await german.getByLabel('Title', { exact: true }).fill('Tor!');
      await page.getByRole('button', { name: /^Send to 2 devices…/ }).waitFor();
    });

    await t.test('a preview and a size for each', async (t) => {
      const phone = page.locator('.phone').first();
      await phone.getByText('Goal!').waitFor();
      const size = page.getByRole('heading', { name: /^iOS · \d+ of/ });
      const before = await size.textContent();
      const languages = page.getByRole('radiogroup', { name: 'Language of the preview' });
      await languages.getByRole('radio', { name: 'de', exact: true }).check();
      await phone.getByText('Tor!').waitFor();
      await until('another text has another size', async () =>
        (await size.textContent()) === before ? null : true,
      );
      for (const look of ['light', 'dark', 'phone'] as const) {
        await page.emulateMedia({ colorScheme: LOOKS[look].colorScheme });
        await page.setViewportSize(LOOKS[look].viewport);
        t.strictSame(await axeFaults(page), [], look);
        await takePicture(page, `languages-${look}`);
      }
      await page.setViewportSize(LOOKS.light.viewport);
    });

    await t.test('it is kept as a draft', async (t) => {
      await page.getByRole('button', { name: 'Save draft…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Save draft', exact: true }).click();
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Remove de' }).click();
      await page.getByRole('button', { name: 'Drafts…' }).click();
      await dialog.getByRole('button', { name: /^Open/ }).first().click();
      await dialog.waitFor({ state: 'detached' });
      t.equal(await german.getByLabel('Title', { exact: true }).inputValue(), 'Tor!');
      await german.getByText('German').waitFor();
    });

    await t.test('the confirmation shows both, and both are sent', async (t) => {
      const dialog = page.getByRole('dialog');
      await page.getByRole('button', { name: /^Send to 2 devices…/ }).click();
      await dialog.getByText('In de (German)').waitFor();
      await dialog.getByText('Tor! · Eins zu null').waitFor();
      await takePicture(page, 'languages-confirm');
      await dialog.getByRole('button', { name: 'Send to 2 devices' }).click();
      await page.waitForURL(/notifications\/[0-9a-f-]{36}$/);
      const job = page.url().split('/').at(-1) ?? '';
      await finalStatus(demo.baseUrl, demo, job);
      const answer = await fetch(
        `${demo.baseUrl}/push-api/v3/${demo.clientId}/notifications/${job}`,
        { headers: { Authorization: `Bearer ${demo.superUser.token}` } },
      );
      const { payload } = (await answer.json()) as { readonly payload: object };
      t.match(payload, {
        title: 'Goal!',
        message: 'One to nil',
        languages: { 'lang-de': { title: 'Tor!', message: 'Eins zu null' } },
      });
    });

    await t.test('chosen by the language of the device; edited, and duplicated', async (t) => {
      await page.goto(room('send'));
      await page.getByRole('button', { name: 'Advanced (expression)' }).click();
      await page.getByLabel('Expression', { exact: true }).fill(`#${tagId}`);
      await page.getByLabel('Title', { exact: true }).fill('Goal!');
      await page.getByRole('button', { name: 'Add a language' }).click();
      await page.getByRole('radio', { name: 'The device’s language' }).check();
      t.equal(await page.getByLabel('Language of the text above').count(), 0);
      await german.getByLabel('Language', { exact: true }).fill('german');
      await shows('german is no language.');
      await german.getByLabel('Language', { exact: true }).fill('de_ch');
      await german.getByLabel('Title', { exact: true }).fill('Goal, gäll!');
      const languages = page.getByRole('radiogroup', { name: 'Language of the preview' });
      await languages.getByRole('radio', { name: 'de-CH', exact: true }).check();
      await page.locator('.phone').first().getByText('Goal, gäll!').waitFor();
      t.strictSame(await axeFaults(page), []);
      await takePicture(page, 'languages-by-device');
      await page.getByRole('radio', { name: 'Schedule', exact: true }).check();
      await page.getByLabel('Send at').fill('2099-01-01T12:00');
      const dialog = page.getByRole('dialog');
      await page.getByRole('button', { name: /^Schedule for 2 devices…/ }).click();
      await dialog.getByText('For devices in de-CH').waitFor();
      await dialog.getByRole('button', { name: /^Schedule for / }).click();
      await page.waitForURL(/notifications\/[0-9a-f-]{36}$/);
      await page.getByRole('button', { name: 'Edit', exact: true }).click();
      t.equal(await german.getByLabel('Title', { exact: true }).inputValue(), 'Goal, gäll!');
      await german.getByLabel('Title', { exact: true }).fill('Gäll!');
      const before = page.url();
      await page.getByRole('button', { name: /^Save changes…/ }).click();
      await dialog.getByRole('button', { name: /^Save for / }).click();
      await page.waitForURL((url) => url.href !== before);
      const job = page.url().split('/').at(-1) ?? '';
      const answer = await fetch(
        `${demo.baseUrl}/push-api/v3/${demo.clientId}/notifications/${job}`,
        { headers: { Authorization: `Bearer ${demo.superUser.token}` } },
      );
      t.match(await answer.json(), {
        givenPayload: {
          languages: '@language',
          title: { default: 'Goal!', 'de-CH': 'Gäll!' },
        },
      });
      await page.getByRole('button', { name: 'Duplicate' }).click();
      t.equal(await german.getByLabel('Title', { exact: true }).inputValue(), 'Gäll!');
      t.ok(await page.getByRole('radio', { name: 'The device’s language' }).isChecked());
    });

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
