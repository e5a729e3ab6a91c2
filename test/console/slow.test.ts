/** An engine that takes long to answer. */

import t from 'tap';
import { openPage, withBrowser } from '../support/browser.ts';
import { makeConsoleClient } from '../support/console.ts';
import { holdBack } from '../support/held-answers.ts';

t.setTimeout(240_000);

/** Several times the pause between two looks of a page. */
const LONG_MS = 20_000;

t.test('a page that looks again and again waits for an answer that takes longer', (t) =>
  withBrowser(t, async (t, browser) => {
    const { room, signIn } = await makeConsoleClient();
    const { page } = await openPage(t, browser);
    await page.clock.install();
    await signIn(page);
    await page.goto(room('tags'));
    await page.getByRole('treeitem').first().waitFor();
    const next = await holdBack(page, /\/notifications\?limit=50/);
    await page.goto(room('notifications'));
    const answer = await next();
    await page.clock.runFor(LONG_MS);
    await answer.give();
    await page.getByText('No notifications yet').waitFor();
  }),
);
