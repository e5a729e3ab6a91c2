/** The list of notifications in a browser: found by title, author and tag, exported as CSV. */

import { readFileSync } from 'node:fs';
import t from 'tap';
import { lookAtRoom, openPage, withBrowser } from '../support/browser.ts';
import { finalStatus, post, push } from '../support/client.ts';
import { makeConsoleClient, registerDevices } from '../support/console.ts';
import { listsOn } from '../support/console-list.ts';

t.setTimeout(180_000);

const DEVICES = 20;
const FORMULA = '=HYPERLINK("http://evil.example","Goal")';

t.test('the list of notifications', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo, room, signIn, ownerEmail } = await makeConsoleClient();
    const [tagId = 0, otherId = 0] = demo.tagIds;
    await registerDevices(demo, { platformId: 3, tagId, count: DEVICES });
    const admin = `${demo.baseUrl}/push-admin-api/v3/${demo.clientId}`;
    const made = await post(`${admin}/tags`, demo.superUser.token, { name: '+Muted, "quiet"' });
    const { id: muted } = (await made.json()) as { readonly id: number };
    const send = async (
      title: string,
      tagIds: readonly number[],
      more: Readonly<Record<string, unknown>> = {},
    ) => {
      const id = await push(demo.baseUrl, demo, tagIds, { title }, more);
      await finalStatus(demo.baseUrl, demo, id);
      return id;
    };
    const goal = await send('Goal for Bayern', [tagId, otherId], { excludeTagIds: [muted] });
    const app = await post(`${admin}/apps`, demo.superUser.token, {
      name: 'Kurier',
      platformIds: [15],
    });
    const { id: appId } = (await app.json()) as { readonly id: number };
    await send(FORMULA, [otherId], { appIds: [appId] });
    const key = await post(`${admin}/keys`, demo.superUser.token, {
      name: 'CMS',
      scopes: ['send', 'read'],
    });
    const { token, userName } = (await key.json()) as Readonly<Record<string, string>>;
    const byKey = { ...demo, superUser: { ...demo.superUser, token: token ?? '' } };
    await finalStatus(
      demo.baseUrl,
      demo,
      await push(demo.baseUrl, byKey, [otherId], { title: 'By the CMS' }),
    );
    const { page, complaints } = await openPage(t, browser);
    await signIn(page);
    const lists = listsOn(page);
    const row = (name: string) => page.getByRole('row', { name });

    await t.test('each says to whom it went, by names, and on which platforms', async (t) => {
      await page.goto(room('notifications'));
      await lists('By the CMS', FORMULA, 'Goal for Bayern');
      const cells = await row('Goal for Bayern').getByRole('cell').allTextContents();
      t.match(cells.join(' | '), /Breaking news, .* · without \+Muted, "quiet"iOS, Android/);
      t.match(await row(FORMULA).textContent(), /Android/);
      t.notMatch(await row(FORMULA).textContent(), /iOS/);
    });

    await t.test('by words of the title, by tag and by author, in the address', async (t) => {
      const title = page.getByRole('searchbox', { name: 'Title' });
      await title.fill('bayern GO');
      await lists('Goal for Bayern');
      t.match(page.url(), /\?q=bayern\+GO$/);
      await title.fill('nothing of it');
      await page.getByText('No notifications match these filters.').waitFor();
      await title.fill('');
      await page.getByRole('combobox', { name: 'Tag' }).fill('Breaking');
      await page.getByRole('option', { name: 'Breaking news' }).click();
      await lists('Goal for Bayern');
      await page.reload();
      await lists('Goal for Bayern');
      await page.getByRole('button', { name: 'Remove Breaking news' }).click();
      await lists('By the CMS', FORMULA, 'Goal for Bayern');
      const author = page.getByLabel('Author');
      await author.fill(userName ?? '');
      await author.press('Enter');
      await lists('By the CMS');
      await author.fill(ownerEmail);
      await author.press('Enter');
      await lists();
      await author.fill('');
      await author.press('Enter');
      await lists('By the CMS', FORMULA, 'Goal for Bayern');
    });

    await t.test('the share of devices that failed', async () => {
      const device = { appId: demo.appId, platformId: 3, deviceId: 'no APNs token', tagId: muted };
      await post(`${demo.baseUrl}/push-api/reg`, demo.apiUser.token, device);
      await send('Nobody is there', [muted]);
      await page.reload();
      await row('Nobody is there').getByText('100% failed').waitFor();
    });

    await t.test('exported as CSV, in which no cell is a formula', async (t) => {
      await page.goto(room('notifications?q=goal'));
      await lists(FORMULA, 'Goal for Bayern');
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Export CSV' }).click(),
      ]);
      t.equal(download.suggestedFilename(), `notifications-${demo.clientId}.csv`);
      const text = readFileSync(await download.path(), 'utf8');
      const [head, formula, first, end] = text.split('\r\n');
      t.match(head, /^\ufeffID,Title,Status,Author,Submitted,/);
      t.match(formula, /^[0-9a-f-]{36},"'=HYPERLINK\(""http:\/\/evil\.example"",""Goal""\)",Sent,/);
      t.ok(first?.startsWith(`${goal},Goal for Bayern,Sent,${demo.superUser.username},`));
      t.match(first, /,"Breaking news, [^"]*without \+Muted, ""quiet""",/);
      t.match(first, /,"iOS, Android",20,20,0,0,0,0,0,0$/);
      t.equal(end, '', 'the last line is ended');
      t.equal(text.split('\r\n').length, 4);
    });

    await t.test('found by its title in the search over everything', async () => {
      await page.keyboard.press('Control+k');
      const dialog = page.getByRole('dialog', { name: 'Search' });
      await dialog.getByRole('combobox').fill('bayern');
      await dialog.getByRole('option', { name: 'Goal for Bayern' }).click();
      await page.getByRole('heading', { name: 'Goal for Bayern' }).waitFor();
    });

    await t.test('in each look', (t) =>
      lookAtRoom(t, page, 'notification-list', room(`notifications?tagId=${otherId}`)),
    );

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
