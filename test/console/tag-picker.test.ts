/** Whom a notification is for, chosen in a browser: groups, paths, counts, favourites, recents. */

import t from 'tap';
import { axeFaults, LOOKS, openPage, takePicture, withBrowser } from '../support/browser.ts';
import { finalStatus, post, push } from '../support/client.ts';
import { makeConsoleClient, registerDevices } from '../support/console.ts';

t.setTimeout(180_000);

const IOS = 3;

t.test('choosing tags', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo, room, signIn } = await makeConsoleClient();
    const { token } = demo.superUser;
    const admin = `${demo.baseUrl}/push-admin-api/v3/${demo.clientId}`;
    const make = async (what: 'tags' | 'groups', fields: object) => {
      const answer = await post(`${admin}/${what}`, token, fields);
      return ((await answer.json()) as { readonly id: number }).id;
    };
    const clubs = await make('groups', { name: 'Clubs' });
    const munich = await make('groups', { name: 'Munich', parentId: clubs });
    await make('groups', { name: 'Clubs of nobody' });
    const bayern = await make('tags', { name: 'FC Bayern', groupId: munich });
    const lions = await make('tags', { name: '1860', groupId: munich });
    const dortmund = await make('tags', { name: 'Dortmund', groupId: clubs });
    for (const [tagId, count] of [
      [bayern, 3],
      [lions, 1],
      [dortmund, 2],
    ] as const) {
      await registerDevices(demo, { platformId: IOS, tagId, count });
    }
    const sent = await push(demo.baseUrl, demo, [dortmund], { title: 'Goal!' });
    await finalStatus(demo.baseUrl, demo, sent);

    const { page, complaints } = await openPage(t, browser);
    await signIn(page);
    await page.goto(room('send'));
    const any = page.getByRole('combobox', { name: 'Send to people with any of these tags' });
    const none = page.getByRole('combobox', { name: 'Exclude' });
    const option = (name: string | RegExp) => page.getByRole('option', { name });
    const counted = (text: string) => page.getByRole('heading', { name: text }).waitFor();
    const audience = page.locator('aside .sheet').first();
    const looks = async (name: string) => {
      for (const [look, options] of Object.entries(LOOKS)) {
        await page.emulateMedia({ colorScheme: options.colorScheme });
        await page.setViewportSize(options.viewport);
        t.strictSame(await axeFaults(page), [], `${name}, ${look}`);
        await takePicture(page, `${name}-${look}`);
      }
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize(LOOKS.light.viewport);
    };

    await t.test('the field has the focus; a tag has its path and its devices', async (t) => {
      await any.and(page.locator(':focus')).waitFor();
      await page.keyboard.type('bayern');
      await option('FC Bayern Clubs › Munich 3 devices').waitFor();
      await looks('tag-picker');
      await page.keyboard.press('Enter');
      await counted('3 devices');
      t.match(await audience.textContent(), /People with any of: FC Bayern/);
    });

    await t.test('Enter before the answer picks what was typed', async (t) => {
      await page.keyboard.type('dortm');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Remove Dortmund' }).click();
      t.equal(await page.getByRole('button', { name: /^Remove/ }).count(), 1);
    });

    await t.test('a favourite, and what was sent to lately, come first', async (t) => {
      await page.getByRole('button', { name: 'Favourite: FC Bayern' }).click();
      await page.getByRole('button', { name: 'Remove FC Bayern' }).click();
      await page.reload();
      await any.click();
      const favourites = page.getByRole('group', { name: 'Favourites' }).getByRole('option');
      await favourites.first().waitFor();
      t.match(await favourites.allTextContents(), [/FC Bayern/]);
      const recent = page.getByRole('group', { name: 'Recent' }).getByRole('option');
      t.match(await recent.allTextContents(), [/Dortmund/]);
      const kept = await page.evaluate('JSON.stringify(localStorage)');
      t.notMatch(kept, /FC Bayern/, 'no name is left for the next person');
      await favourites.first().click();
      t.equal(
        await page
          .getByRole('button', { name: 'Favourite: FC Bayern' })
          .getAttribute('aria-pressed'),
        'true',
      );
      await page.getByRole('button', { name: 'Remove FC Bayern' }).click();
    });

    await t.test('a whole group, with those below it; one of its tags excluded', async (t) => {
      await any.fill('clubs');
      await option(/^Clubs all its tags$/).click();
      await counted('6 devices');
      await page.getByText('Clubs (3 tags)').first().waitFor();
      await any.fill('nobody');
      await option('Clubs of nobody').click();
      await page.getByText('Clubs of nobody has no tags.').waitFor();
      await none.fill('1860');
      await option('1860 Clubs › Munich').click();
      await counted('5 devices');
      t.match(await audience.textContent(), /any of: Clubs \(3 tags\)\s*Without: 1860/);
      await page.getByRole('combobox', { name: 'Only if they also have all of' }).fill('clubs');
      await page.getByText('No matching tags.').first().waitFor();
      await page.keyboard.press('Escape');
      await looks('tag-group');
    });

    await t.test('a tag that joins the group is in the draft when it is opened again', async () => {
      const hamburg = await make('tags', { name: 'Hamburg', groupId: clubs });
      await registerDevices(demo, { platformId: IOS, tagId: hamburg, count: 4 });
      await page.reload();
      await counted('9 devices');
      await page.getByText('Clubs (4 tags)').first().waitFor();
    });

    await t.test('the page of tags leads to the same ones while none is open', async () => {
      await page.goto(room('tags'));
      await page.getByRole('heading', { name: 'Favourites' }).waitFor();
      await looks('tags-start');
      await page.getByRole('link', { name: 'Dortmund Clubs · 2 devices' }).click();
      await page.getByRole('heading', { name: 'Dortmund' }).waitFor();
      await page.goto(room('send'));
      await counted('9 devices');
    });

    await t.test('the confirmation names the group; one button takes it away', async () => {
      await page.getByLabel('Title', { exact: true }).fill('Transfer!');
      await page.getByRole('button', { name: 'Send to 9 devices…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('Clubs (4 tags)').waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Remove Clubs (4 tags)' }).click();
      await counted('No audience yet');
    });

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
