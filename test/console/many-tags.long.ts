/** The page Tags with a hundred thousand of them: found, walked through, and few rows drawn. */

import t from 'tap';
import { openPage, withBrowser } from '../support/browser.ts';
import { post } from '../support/client.ts';
import { signInToDemo, startConsoleEngine } from '../support/console.ts';

t.setTimeout(580_000);

/** The most that a client may have, less those of the demo. */
const TAGS = 99_000;
const GROUPS = 10;
/** The most that one request may have. */
const PER_REQUEST = 1_000;
/** The rows that are seen, and some above and below. */
const DRAWN_MAX = 100;

t.test('found, opened, walked through to the end', (t) =>
  withBrowser(t, async (t, browser) => {
    const { engine, demo } = await startConsoleEngine(t);
    const add = async (body: object) => {
      const url = `${engine.baseUrl}/push-admin-api/tag/add/demo`;
      const answer = await post(url, demo.superUser.token, body);
      // A long answer that is not read keeps its connection.
      const text = await answer.text();
      if (!answer.ok) throw new Error(`tag/add: ${answer.status} ${text}`);
    };
    const groups = Array.from({ length: GROUPS }, (_, group) => ({
      name: `Group ${group}`,
      sourceId: `group-${group}`,
    }));
    await add({ groups });
    for (let first = 0; first < TAGS; first += PER_REQUEST) {
      const tags = Array.from({ length: PER_REQUEST }, (_, index) => ({
        name: `Club ${first + index}`,
        sourceId: `club-${first + index}`,
        groupSourceId: `group-${(first / PER_REQUEST) % GROUPS}`,
      }));
      await add({ tags });
    }

    const { page, complaints } = await openPage(t, browser);
    await signInToDemo(page, demo);
    const rows = page.getByRole('treeitem');
    const timed = async (what: string, deed: () => Promise<unknown>) => {
      const startedMs = performance.now();
      await deed();
      t.comment(`${what}: ${Math.round(performance.now() - startedMs)} ms`);
      const drawn = await rows.count();
      t.ok(drawn > 0 && drawn <= DRAWN_MAX, `${what}: ${drawn} rows are drawn`);
    };

    await timed('opened', async () => {
      await page.goto(`${engine.baseUrl}/console/#/client/demo/tags`);
      await rows.filter({ hasText: 'Group 0' }).waitFor();
    });
    await timed('a group opened', async () => {
      await rows.filter({ hasText: 'Group 3' }).click();
      await rows.filter({ hasText: 'Club 3000' }).first().waitFor();
    });
    await timed('scrolled to the end of what is there', async () => {
      await page.getByRole('tree').press('End');
      await rows.filter({ hasText: 'Breaking news' }).first().waitFor();
    });
    await timed('found', async () => {
      await page.getByRole('searchbox').fill('Club 98765');
      await rows.filter({ hasText: 'Club 98765' }).waitFor();
    });
    await timed('many found', async () => {
      await page.getByRole('searchbox').fill('Club');
      await page.getByText(/^More than \d+ tags found/).waitFor();
    });
    await page.keyboard.press('Escape');
    await timed('found from everywhere', async () => {
      await page.keyboard.press('Control+k');
      const dialog = page.getByRole('dialog', { name: 'Search' });
      await dialog.getByRole('combobox').fill('Club 4321');
      await dialog.getByRole('option', { name: 'Club 43210' }).waitFor();
      await page.keyboard.press('Escape');
    });
    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
