/** Drafts of the team, the seconds to undo a send, and a release in two stages. */

import t from 'tap';
import type { Locator } from '../support/browser.ts';
import { axeFaults, LOOKS, openPage, takePicture, withBrowser } from '../support/browser.ts';
import { post, push } from '../support/client.ts';
import { changeSettings, makeConsoleClient, registerDevices } from '../support/console.ts';

t.setTimeout(240_000);

const DEVICES = 150;
const STAGE = 2;
/** The most that a client can have: three looks at a page take some seconds of a busy machine. */
const UNDO_SECONDS = 60;

t.test('drafts, undo and stages', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo, room, signIn, ownerEmail } = await makeConsoleClient();
    const [tagId = 0] = demo.tagIds;
    const tokens = await registerDevices(demo, { platformId: 3, tagId, count: DEVICES });
    const { page, complaints } = await openPage(t, browser);
    await signIn(page);
    const dialog = page.getByRole('dialog');
    const title = page.getByLabel('Title', { exact: true });
    const drafts = `${demo.baseUrl}/push-api/v3/${demo.clientId}/drafts`;
    const headers = { Authorization: `Bearer ${demo.superUser.token}` };
    const saved = async () =>
      (await (await fetch(drafts, { headers })).json()) as readonly {
        readonly id: number;
        readonly name: string;
        readonly revision: number;
      }[];
    const looks = async (name: string) => {
      for (const [look, options] of Object.entries(LOOKS)) {
        await page.emulateMedia({ colorScheme: options.colorScheme });
        await page.setViewportSize(options.viewport);
        t.strictSame(await axeFaults(page), [], `${name}, ${look}`);
        await takePicture(page, `${name}-${look}`);
      }
      await page.setViewportSize(LOOKS.light.viewport);
      await page.emulateMedia({ colorScheme: 'light' });
    };
    const pick = async (field: Locator) => {
      await field.click();
      await page.getByRole('option').first().waitFor();
      await page.getByRole('option', { name: 'Breaking news' }).first().click();
      await page.keyboard.press('Escape');
    };
    const any = page.getByRole('combobox', { name: 'Send to people with any of these tags' });
    const accepted = async (): Promise<number> => {
      let count = 0;
      for (const token of tokens) {
        const url = `${demo.simulator.controlUrl}/received/apns/${token}`;
        count += ((await (await fetch(url)).json()) as { readonly accepted: number }).accepted;
      }
      return count;
    };

    await t.test('saved by name, with its age, for the team', async (t) => {
      await page.goto(room('send'));
      await page.getByText('A new draft.').waitFor();
      await title.fill('Final whistle');
      await page.getByText('Not saved yet').waitFor();
      await page.getByRole('button', { name: 'Save draft…' }).click();
      t.equal(await dialog.getByLabel('Name').inputValue(), 'Final whistle');
      await dialog.getByLabel('Name').fill('The final');
      await dialog.getByRole('button', { name: 'Save draft' }).click();
      await page.getByText(/“The final”, saved .* by /).waitFor();
      await title.fill('Final whistle!');
      await page.getByText('“The final” has changes that are not saved.').waitFor();
      await page.getByRole('button', { name: 'Save draft' }).click();
      await page.getByText(/“The final”, saved .* by /).waitFor();
      t.match(await saved(), [{ name: 'The final', revision: 2 }]);
      await page.reload();
      await page.getByText(/“The final”, saved .* by /).waitFor();
    });

    await t.test('what somebody else has changed is not overwritten', async (t) => {
      const [draft] = await saved();
      const changed = await fetch(`${drafts}/${draft?.id}`, {
        method: 'PATCH',
        headers,
        body: JSON.stringify({ content: { title: 'Theirs' }, revision: 2 }),
      });
      t.ok(changed.ok);
      await title.fill('Mine');
      await page.getByRole('button', { name: 'Save draft' }).click();
      await page.getByText('has changed this draft meanwhile').waitFor();
      await page.getByRole('button', { name: 'Save draft…' }).click();
      await dialog.getByRole('button', { name: 'Save draft' }).click();
      await page.getByText(/“Mine”, saved .* by /).waitFor();
      t.match(await saved(), [{ name: 'Mine' }, { name: 'The final' }]);
    });

    await t.test('one that is discarded meanwhile is kept as another', async (t) => {
      const [draft] = await saved();
      const gone = await fetch(`${drafts}/${draft?.id}`, { method: 'DELETE', headers });
      t.ok(gone.ok);
      await title.fill('Still mine');
      await page.getByRole('button', { name: 'Save draft' }).click();
      await page.getByText('Save again to keep your version').waitFor();
      await title.fill('Mine');
      await page.getByRole('button', { name: 'Save draft…' }).click();
      await dialog.getByRole('button', { name: 'Save draft' }).click();
      await page.getByText(/“Mine”, saved .* by /).waitFor();
      t.match(await saved(), [{ name: 'Mine' }, { name: 'The final' }]);
    });

    await t.test('a program may have written one: the names are those of its ids', async (t) => {
      const write = async (name: string, content: object) =>
        t.ok((await post(drafts, demo.superUser.token, { name, content })).ok);
      await write('Odd', { title: 7 });
      await write('Named', {
        title: 'Named',
        any: [{ id: tagId, name: 'Nobody', group: { id: 1_000_000, name: 'Few' } }],
        apps: [{ id: 1_000_000, name: 'Test' }],
      });
      const open = async (name: string) => {
        await page.getByRole('button', { name: 'Drafts…' }).click();
        await dialog.getByRole('button', { name: `Open ${name}` }).click();
      };
      await open('Odd');
      await dialog.getByText('was not composed with this console').waitFor();
      await page.keyboard.press('Escape');
      t.equal(await title.inputValue(), 'Mine', 'what is there stays');
      await open('Named');
      await dialog.waitFor({ state: 'detached' });
      t.equal(await title.inputValue(), 'Named');
      await page.getByRole('button', { name: 'Remove Breaking news' }).waitFor();
      t.equal(await page.getByText(/Nobody|Few/).count(), 0);
      await page.getByText('Goes to 1000000 (deleted)').waitFor();
      await page.getByText(/“Named”, saved .* by /).waitFor();
      await open('Mine');
      await dialog.waitFor({ state: 'detached' });
      for (const { id, name } of await saved()) {
        if (name !== 'Odd' && name !== 'Named') continue;
        await fetch(`${drafts}/${id}`, { method: 'DELETE', headers });
      }
    });

    await t.test('Duplicate overwrites none; one is discarded on purpose', async (t) => {
      await title.fill('Half written');
      const job = await push(
        demo.baseUrl,
        demo,
        [tagId],
        { title: 'Sent before' },
        {
          sendAt: Date.now() + 3_600_000,
        },
      );
      await post(
        `${demo.baseUrl}/push-api/v3/${demo.clientId}/notifications/${job}/cancel`,
        demo.superUser.token,
        {},
      );
      await page.goto(room(`notifications/${job}`));
      await page.getByRole('button', { name: 'Duplicate', exact: true }).click();
      await page.getByText('Your earlier draft was saved as “Mine”.').waitFor();
      t.equal(await title.inputValue(), 'Sent before');
      await page.getByRole('button', { name: 'Drafts…' }).click();
      const listed = dialog.getByRole('listitem');
      await listed.nth(2).waitFor();
      t.match(await listed.first().textContent(), new RegExp(`Mine.*(now|second).*${ownerEmail}`));
      await looks('drafts');
      await listed.first().getByRole('button', { name: 'Open Mine' }).click();
      await dialog.waitFor({ state: 'detached' });
      t.equal(await title.inputValue(), 'Half written');
      await page.getByText('Your earlier draft was saved as “Sent before”.').waitFor();
      await page.getByRole('button', { name: 'Drafts…' }).click();
      await dialog.getByRole('button', { name: 'Discard The final…' }).click();
      await page.keyboard.press('Enter');
      t.equal((await saved()).length, 4, 'Enter keeps it');
      await dialog.getByRole('button', { name: 'Discard The final…' }).click();
      await dialog.getByRole('button', { name: 'Discard for everybody' }).click();
      await dialog.getByText('The final').waitFor({ state: 'detached' });
      t.equal((await saved()).length, 3);
      await page.keyboard.press('Escape');
    });

    await t.test('taken back before anybody has it: the draft is there again', async (t) => {
      await changeSettings(demo, { undoSeconds: UNDO_SECONDS });
      await page.reload();
      await pick(any);
      await title.fill('Too early');
      await page.getByLabel('Speed limit (devices per second)').fill('500');
      await page.getByRole('button', { name: /^Send to / }).click();
      await dialog.getByRole('button', { name: `Send to ${DEVICES} devices` }).click();
      await page.getByText(/^Sending in \d+ s…$/).waitFor();
      await looks('undo');
      await page.getByRole('button', { name: 'Undo' }).click();
      await page.getByRole('heading', { name: 'New notification' }).waitFor();
      t.equal(await title.inputValue(), 'Too early');
      t.equal(await page.getByLabel('Speed limit (devices per second)').inputValue(), '500');
      t.equal(await accepted(), 0);
    });

    await t.test('taken back too late by a moment: the page stays', async (t) => {
      await page.getByRole('button', { name: /^Send to / }).click();
      await dialog.getByRole('button', { name: `Send to ${DEVICES} devices` }).click();
      await page.getByText(/^Sending in \d+ s…$/).waitFor();
      const address = page.url();
      const asked = /\/push-api\/v3\/[^/]+\/notifications\/[^/]+$/;
      // It has begun, and no report has come yet.
      await page.route(asked, async (route) => {
        const response = await route.fetch();
        const { finishedAt, ...begun } = (await response.json()) as Record<string, unknown>;
        t.ok(finishedAt);
        await route.fulfill({ response, json: begun });
      });
      // The stream may show the end before this answer.
      const looked = page.waitForResponse(asked);
      await page.getByRole('button', { name: 'Undo' }).click();
      await looked;
      await page.getByRole('button', { name: 'Duplicate', exact: true }).waitFor();
      t.equal(page.url(), address);
      await page.unroute(asked);
      await page.getByRole('button', { name: 'Duplicate', exact: true }).click();
      await page.getByRole('heading', { name: 'New notification' }).waitFor();
    });

    await t.test('an urgent one goes out at once', async () => {
      await page.getByLabel('Urgent: jump the queue').check();
      await title.fill('Urgent');
      await page.getByRole('button', { name: /^Send to / }).click();
      await dialog.getByRole('button', { name: `Send to ${DEVICES} devices` }).click();
      await page.getByText('Ended · Sent').waitFor();
    });

    await t.test('one in a hundred first, then the rest', async (t) => {
      const before = await accepted();
      t.equal(before, DEVICES);
      await changeSettings(demo, { undoSeconds: 0 });
      await page.goto(room('send'));
      await pick(any);
      await title.fill('In stages');
      await page.getByLabel('Send to 1 % first').check();
      await page.getByRole('button', { name: /^Send to / }).click();
      await dialog.getByText(`${STAGE} devices, then the rest when you say so`).waitFor();
      await dialog.getByRole('button', { name: `Send to ${DEVICES} devices` }).click();
      await page.getByText(/^The first stage has ended: 2 accepted, 0 failed, of about/).waitFor();
      t.equal(await accepted(), before + STAGE);
      await page.locator('ol.timeline').getByText('First stage ended').waitFor();
      await page.keyboard.press('p');
      await looks('stage');
      t.equal(await accepted(), before + STAGE, 'a key does not send to the rest');
      await page.getByRole('button', { name: 'Send to the rest' }).click();
      await page.getByText('Ended · Sent').waitFor();
      t.equal(await accepted(), before + DEVICES, 'each once');
    });

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
