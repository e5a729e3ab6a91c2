/** Who has signed in stays so, whatever answers come late. */

import t from 'tap';
import { openPage, withBrowser } from '../support/browser.ts';
import { signInToDemo, startConsoleEngine } from '../support/console.ts';

t.setTimeout(120_000);

/** A page that takes the answer for its own draws the sign-in within this time. */
const TO_REDRAW_MS = 200;

t.test('the page hears that nobody was signed in after its link has signed in', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo } = await startConsoleEngine(t);
    const { page } = await openPage(t, browser);
    let release = () => {};
    const isSignedIn = new Promise<void>((done) => {
      release = done;
    });
    await page.route(/\/console\/api\/session$/, async (route) => {
      if (route.request().method() !== 'GET') return await route.continue();
      const response = await route.fetch();
      await isSignedIn;
      await route.fulfill({ response });
    });
    const told = page.waitForResponse(
      (response) =>
        response.url().endsWith('/console/api/session') && response.request().method() === 'GET',
    );
    await signInToDemo(page, demo);
    release();
    const answer = await told;
    t.equal(answer.status(), 401);
    await answer.finished();
    await page.evaluate(`new Promise((done) => setTimeout(done, ${TO_REDRAW_MS}))`);
    t.ok(await page.getByRole('heading', { name: 'Overview' }).isVisible());
  }),
);
