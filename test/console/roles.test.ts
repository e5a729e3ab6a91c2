/** Members with roles: invited by a link, shown their pages, refused the others. */

import t from 'tap';
import type { Page } from '../support/browser.ts';
import { axeFaults, loadRoom, openPage, takePicture, withBrowser } from '../support/browser.ts';
import {
  acceptInvitation,
  inviteTo,
  makeConsoleClient,
  registerDevices,
} from '../support/console.ts';
import { until } from '../support/poll.ts';

t.setTimeout(240_000);

const FORBIDDEN = 403;
/** Rooms in which nothing depends on whether somebody sends: one look is enough. */
const AS_A_VIEWER = [
  'tags',
  'segments',
  'attributes',
  'devices',
  'bulk',
  'templates',
  'apps',
  'statistics',
];
const READ = [
  'Overview',
  'Notifications',
  'Tags',
  'Segments',
  'Attributes',
  'Devices',
  'Bulk operations',
  'Apps',
  'Templates',
];

t.test('owner, publisher, viewer', (t) =>
  withBrowser(t, async (t, browser) => {
    const client = await makeConsoleClient();
    const { demo, room: at } = client;
    const [tagId = 0] = demo.tagIds;
    await registerDevices(demo, { platformId: 3, tagId, count: 1 });
    const { page: owner, complaints } = await openPage(t, browser);
    const { page: publisher } = await openPage(t, browser);
    const { page: viewer } = await openPage(t, browser);
    const refusals: string[] = [];
    for (const page of [publisher, viewer]) {
      page.on('response', (answer) => {
        if (answer.status() === FORBIDDEN) refusals.push(answer.url());
      });
    }
    await client.signIn(owner);
    const links = {
      publisher: await inviteTo(owner, client, 'publisher'),
      viewer: await inviteTo(owner, client, 'viewer'),
    };

    await t.test('each joins by a link, which works once', async (t) => {
      await acceptInvitation(publisher, links.publisher, 'publisher@example.com');
      await publisher.getByRole('heading', { name: 'Overview' }).waitFor();
      await acceptInvitation(viewer, links.publisher, 'viewer@example.com');
      await viewer.getByRole('alert').filter({ hasText: 'invitation' }).waitFor();
      t.equal(await viewer.getByLabel('E-mail').inputValue(), 'viewer@example.com');
      await acceptInvitation(viewer, links.viewer, 'viewer@example.com');
      await viewer.getByRole('heading', { name: 'Overview' }).waitFor();
      await owner.reload();
      for (const role of ['publisher', 'viewer']) {
        const choice = owner.getByRole('combobox', { name: `Role: ${role}@example.com` });
        await choice.waitFor();
        t.equal(await choice.inputValue(), role);
      }
    });

    let sent = '';
    await t.test('a publisher sends', async () => {
      await publisher.goto(at('send'));
      const tags = publisher.getByRole('combobox', {
        name: 'Send to people with any of these tags',
      });
      await tags.fill('a');
      await publisher.getByRole('option', { name: 'Goals' }).waitFor();
      // The offers cover what is below them.
      await tags.press('Escape');
      await publisher.getByRole('button', { name: 'Advanced (expression)' }).click();
      await publisher.getByLabel('Expression', { exact: true }).fill(`#${tagId}`);
      await publisher.getByLabel('Title', { exact: true }).fill('Of a publisher');
      await publisher.getByRole('button', { name: 'Send to 1 device…' }).click();
      const dialog = publisher.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Send to 1 device' }).click();
      await publisher.getByRole('button', { name: 'Duplicate' }).waitFor();
      await publisher.getByText('by publisher@example.com').first().waitFor();
      sent = publisher.url().split('/').at(-1) ?? '';
    });

    const rooms = () => ({
      overview: 'overview',
      notifications: 'notifications',
      notification: `notifications/${sent}`,
      tags: 'tags',
      tag: `tags/${tagId}`,
      devices: 'devices',
      bulk: 'bulk',
      templates: 'templates',
      apps: 'apps',
      info: `apps/${demo.appId}`,
      platforms: `apps/${demo.appId}/platforms`,
      statistics: `apps/${demo.appId}/statistics`,
      segments: 'segments',
      attributes: 'attributes',
    });
    /** The buttons in each page, without copying and trying requests. */
    const deedsOf = async (page: Page, but: readonly string[] = []) => {
      const deeds: Record<string, readonly string[]> = {};
      for (const [name, path] of Object.entries(rooms())) {
        if (but.includes(name)) continue;
        await loadRoom(page, at(path));
        const found = page.locator('main').locator('button, a.button');
        const texts = await found.allInnerTexts();
        const isCode = (text: string) => /^(Copy|curl|JavaScript|Python|PHP|Go|Java)\b/.test(text);
        deeds[name] = texts
          .map((text) => text.replaceAll(/\s+/g, ' ').trim())
          .filter((text) => !isCode(text));
      }
      return deeds;
    };
    /** A greyed button says why it is. */
    const nothing = {
      overview: [],
      notifications: ['Export CSV'],
      notification: [],
      tags: [],
      tag: [],
      devices: ['Find device'],
      bulk: ['New operation'],
      templates: [],
      apps: [],
      info: [],
      platforms: [],
      statistics: [],
      segments: ['New segment'],
      attributes: ['New attribute'],
    };

    const [ofViewer, ofPublisher] = await Promise.all([
      deedsOf(viewer),
      deedsOf(publisher, AS_A_VIEWER),
    ]);

    await t.test('a viewer is offered nothing that is refused', async (t) => {
      t.strictSame(ofViewer, nothing);
      const ways = viewer.getByRole('navigation', { name: 'Main' }).getByRole('link');
      t.strictSame(await linesOf(ways.allInnerTexts()), READ);
      await loadRoom(viewer, at(`tags/${tagId}`));
      t.ok(await viewer.getByLabel('Name', { exact: true }).isDisabled(), 'shown, not changed');
      const tree = viewer.getByRole('tree');
      await tree.focus();
      for (const key of ['End', 'm', 'n', '?']) await viewer.keyboard.press(key);
      const keys = viewer.getByRole('dialog', { name: 'Keyboard shortcuts' });
      await keys.waitFor();
      t.equal(await viewer.getByRole('dialog').count(), 1, 'M asks for no group');
      t.equal(await keys.getByText('New notification').count(), 0);
      await viewer.keyboard.press('Escape');
      await viewer.keyboard.press('Control+k');
      const search = viewer.getByRole('dialog', { name: 'Search' });
      await search.getByRole('combobox').fill('e');
      const found = await linesOf(search.getByRole('option').allInnerTexts());
      t.notMatch(found.join('\n'), /New|Keys|Team|Audit|Settings|System/);
      await viewer.keyboard.press('Escape');
      t.strictSame(refusals, []);
    });

    await t.test('a publisher is offered to send, and no more', async (t) => {
      const send = ['New notification N'];
      t.strictSame(ofPublisher, {
        overview: send,
        notifications: ['Export CSV', ...send],
        notification: ['Correct…', 'Retract…', 'Duplicate'],
        tag: [],
        info: [],
        platforms: [],
      });
      const ways = publisher.getByRole('navigation', { name: 'Main' }).getByRole('link');
      t.strictSame(await linesOf(ways.allInnerTexts()), [
        'Overview',
        'New notification',
        ...READ.slice(1),
      ]);
      t.strictSame(refusals, []);
    });

    await t.test('whoever follows a link to what is for others is told so', async (t) => {
      const of = (who: string, role: string) =>
        `Only ${who} of the client have access, and you are a ${role}.`;
      const told = async (page: Page, path: string, sentence: string) => {
        await loadRoom(page, at(path));
        await page.locator('main').getByText(sentence).waitFor();
        t.equal(await page.getByRole('dialog').count(), 0);
        t.equal(await page.locator('main').getByRole('button').count(), 0, path);
        await takePicture(page, `closed-${path.split('?')[0]}`);
      };
      await Promise.all([
        (async () => {
          await told(viewer, 'send', of('owners and publishers', 'viewer'));
          await told(viewer, 'team', of('owners', 'viewer'));
          await told(viewer, 'webhooks', of('owners', 'viewer'));
          await told(viewer, 'tags?new=tag', of('owners', 'viewer'));
        })(),
        (async () => {
          await told(publisher, 'tags?new=group', of('owners', 'publisher'));
          await told(publisher, 'keys', of('owners', 'publisher'));
          await told(publisher, 'audit', of('owners', 'publisher'));
          await told(publisher, 'settings', of('owners', 'publisher'));
        })(),
      ]);
      for (const page of [viewer, publisher]) t.strictSame(await axeFaults(page), []);
      await loadRoom(viewer, `${demo.baseUrl}/console/#/system`);
      await viewer.getByText('Only operators of the engine have access.').waitFor();
      await viewer.getByRole('link', { name: 'Go to the overview' }).click();
      await viewer.getByRole('heading', { name: 'Overview' }).waitFor();
      t.strictSame(refusals, [], 'nothing was asked for');
    });

    await t.test('another role holds within a second, also for a page that is open', async () => {
      await owner.goto(at('team'));
      await loadRoom(publisher, at('send'));
      const choice = owner.getByRole('combobox', { name: 'Role: publisher@example.com' });
      await choice.selectOption('viewer');
      await publisher.getByRole('button', { name: 'Advanced (expression)' }).click();
      let asked = 0;
      await until('the publisher counts no audience any more', async () => {
        const counted = publisher.waitForResponse(/\/notifications\/estimate$/);
        asked += 1;
        await publisher.getByLabel('Expression', { exact: true }).fill(`#${tagId} && !#${asked}`);
        return (await counted).status() === FORBIDDEN ? true : null;
      });
      await publisher.getByRole('alert').first().waitFor();
      await publisher.reload();
      await publisher.getByText('Only owners and publishers of the client have access').waitFor();
    });

    await t.test('the last owner stays one, and the page shows it', async (t) => {
      await owner.goto(at('team'));
      const own = owner
        .getByRole('row')
        .filter({ hasText: '(you)' })
        .getByRole('combobox', { name: /^Role/ });
      await own.selectOption('viewer');
      await owner.getByRole('alert').filter({ hasText: 'owner' }).waitFor();
      t.equal(await own.inputValue(), 'owner');
    });

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);

const linesOf = async (texts: Promise<readonly string[]>): Promise<readonly string[]> =>
  (await texts).map((text) => text.trim());
