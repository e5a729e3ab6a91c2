/** The page Bulk operations: lists and members, results, cancelling, and what others may. */

import t from 'tap';
import {
  axeFaults,
  loadRoom,
  lookAtRoom,
  openPage,
  takePicture,
  withBrowser,
} from '../support/browser.ts';
import { post } from '../support/client.ts';
import {
  acceptInvitation,
  addWaitingOperation,
  inviteTo,
  makeConsoleClient,
  registerDevices,
} from '../support/console.ts';

t.setTimeout(240_000);

const IOS = 3;

t.test('bulk operations', (t) =>
  withBrowser(t, async (t, browser) => {
    const client = await makeConsoleClient();
    const { demo, room, signIn } = client;
    const [tagId = 0] = demo.tagIds;
    const deviceIds = await registerDevices(demo, { platformId: IOS, tagId, count: 3 });
    const tag = async (name: string, sourceId: string): Promise<void> => {
      const path = `/push-admin-api/v3/${demo.clientId}/tags`;
      const answer = await post(demo.baseUrl + path, demo.superUser.token, { name, sourceId });
      if (!answer.ok) throw new Error(await answer.text());
    };
    await tag('Season 26', 's26');
    await tag('Season 27', 's27');
    const { page, complaints } = await openPage(t, browser);
    await signIn(page);
    const dialog = page.getByRole('dialog');
    const pick = async (label: string, name: string): Promise<void> => {
      await page.getByRole('combobox', { name: label }).fill(name);
      await page.getByRole('option', { name }).first().click();
    };
    const result = (name: RegExp) => page.getByRole('row', { name }).getByRole('cell');

    await t.test('a list: what is wrong with it is said, and each result', async (t) => {
      await page.goto(room('bulk'));
      await page.getByText('No bulk operations yet').waitFor();
      await page.getByRole('button', { name: 'New operation' }).click();
      const start = page.getByRole('button', { name: 'Start…' });
      await page.getByText('Choose a tag first.').waitFor();
      t.ok(await start.isDisabled());
      await pick('Tags', 'Season 26');
      await page.getByText('Add devices first.').waitFor();
      const [first = '', second = '', third = ''] = deviceIds;
      await page.getByLabel('App and platform').selectOption({ label: 'Demo, iOS' });
      await page.getByLabel('Device tokens').fill(`${first}\n\n ${second} \r\n${first}\n`);
      await page.getByText('2 devices in the list.').waitFor();
      const file = Buffer.from(`${third}\n${'ee'.repeat(32)}\n`);
      await page
        .locator('input[type=file]')
        .setInputFiles({ name: 'lost.txt', mimeType: 'text/plain', buffer: file });
      await page.getByText('lost.txt: 2 devices.').waitFor();
      await takePicture(page, 'bulk-new');
      t.strictSame(await axeFaults(page), []);
      await start.click();
      await dialog.getByText('For 4 devices.').waitFor();
      await dialog.getByRole('button', { name: 'Start' }).click();
      await page.getByRole('heading', { name: 'Subscribe to Season 26' }).waitFor();
      await page.getByText('Done with errors').waitFor();
      t.equal(await result(/^Changed/).textContent(), '3');
      t.equal(await result(/^Not found/).textContent(), '1');
    });

    await t.test('everybody with a tag moves to another one', async (t) => {
      await page.goto(room('bulk/new'));
      await page.getByRole('radio', { name: 'Everybody with a tag' }).check();
      await pick('Everybody with this tag', 'Season 26');
      await page.getByText('Choose the other tag first.').waitFor();
      await pick('Gets this tag', 'Season 27');
      await page.getByRole('button', { name: 'Start…' }).click();
      await dialog.getByText(/They lose the tag that they have/).waitFor();
      t.ok(await dialog.getByRole('button', { name: 'Start' }).isDisabled());
      await dialog.getByLabel('Type the number of devices, 3').fill('3');
      await dialog.getByRole('button', { name: 'Start' }).click();
      await page
        .getByRole('heading', { name: 'Move the members of Season 26 to Season 27' })
        .waitFor();
      await page.getByText('Done', { exact: true }).waitFor();
      t.equal(await result(/^Changed/).textContent(), '3');
      const one = page.url().split('/').at(-1) ?? '';
      await lookAtRoom(t, page, 'bulk-one', room(`bulk/${one}`));
      await lookAtRoom(t, page, 'bulk', room('bulk'));
    });

    await t.test('a long list is sent in parts', async (t) => {
      await loadRoom(page, room('bulk/new'));
      await pick('Tags', 'Season 26');
      const many = Array.from({ length: 1_001 }, (_, n) => n.toString(16).padStart(64, '0'));
      await page.getByLabel('Device tokens').fill(many.join('\n'));
      await page.getByRole('button', { name: 'Start…' }).click();
      await dialog.getByText('They are sent as 2 operations').waitFor();
      await dialog.getByRole('button', { name: 'Start' }).click();
      await page.getByRole('row').filter({ hasText: '1,000 of 1,000 devices' }).waitFor();
      const last = page.getByRole('row').filter({ hasText: '1 of 1 devices' });
      await last.waitFor();
      t.equal(await page.getByRole('row').count(), 5, 'four operations and the heads');
    });

    await t.test('one that waits is cancelled', async (t) => {
      const id = await addWaitingOperation(client, tagId);
      await page.goto(room(`bulk/${id}`));
      await page.getByText('It waits for the earlier operations of this client.').waitFor();
      await page.getByRole('button', { name: 'Cancel…' }).click();
      await dialog.getByRole('button', { name: 'Cancel operation' }).click();
      await page.getByText('Cancelled', { exact: true }).waitFor();
      t.equal(await page.getByRole('button', { name: 'Cancel…' }).count(), 0);
    });

    await t.test('who is no owner sees them, and why nothing can be started', async (t) => {
      const link = await inviteTo(page, client, 'viewer');
      const { page: viewer } = await openPage(t, browser, 'phone');
      await acceptInvitation(viewer, link, 'viewer@bulk.example');
      await viewer.getByRole('heading', { name: 'Overview' }).waitFor();
      await loadRoom(viewer, room('bulk'));
      const add = viewer.getByRole('button', { name: 'New operation' });
      t.ok(await add.isDisabled());
      await viewer.getByText('Only owners of the client can do this.').waitFor();
      t.strictSame(await axeFaults(viewer), []);
      await takePicture(viewer, 'bulk-viewer');
    });

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
