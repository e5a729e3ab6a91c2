/** The page of the engine's operator, who need not be a member of any client. */

import { hostname } from 'node:os';
import t from 'tap';
import { axeFaults, LOOKS, openPage, takePicture, withBrowser } from '../support/browser.ts';
import { startConsoleEngine } from '../support/console.ts';
import { runCommand } from '../support/processes.ts';

t.setTimeout(240_000);

const EMAIL = 'operator@example.com';
const PASSWORD = 'a sentence that is long';

t.test('an operator who belongs to no client signs in to it', (t) =>
  withBrowser(t, async (t, browser) => {
    const { engine } = await startConsoleEngine(t);
    const add = ['operator', 'add', EMAIL, '--url', engine.baseUrl];
    const { output } = await runCommand(t, add, { DATA_DIR: engine.dataDir });
    const [link = ''] = /http\S+#\S+/.exec(output) ?? [];
    const { page, complaints } = await openPage(t, browser);
    await page.goto(link);
    await page.getByLabel('New password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByLabel('E-mail').fill(EMAIL);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'System' }).waitFor();
    t.match(page.url(), /#\/system$/);
    const sections = page.getByRole('heading', { level: 2 });
    await sections.first().waitFor();
    t.strictSame(await sections.allTextContents(), [
      'Providers',
      'Nodes',
      'HTTP server',
      'Stores',
      'Tag index',
      'Connections to providers',
      'Queue',
    ]);
    const main = page.getByRole('main');
    t.match(await main.textContent(), /Tagcast \d+\.\d+\.\d+/);
    const node = main.getByRole('region', { name: 'Nodes' }).getByRole('row').nth(1);
    t.match(await node.textContent(), new RegExp(`Running.*${hostname()}.*${engine.child.pid}`));
    t.match(
      await main.textContent(),
      /Accepts requests(?:uWebSockets\.js 20|Built in\s*Reason\s*\S)/,
    );
    t.match(await main.textContent(), /Database\s*Works/);
    t.match(await main.textContent(), /Redis is not configured\./);
    t.match(await main.textContent(), /No notifications in progress/);

    for (const [look, options] of Object.entries(LOOKS)) {
      await page.emulateMedia({ colorScheme: options.colorScheme });
      await page.setViewportSize(options.viewport);
      const widthPx = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      t.ok(Number(widthPx) <= 0, `${look}: as wide as the window`);
      t.strictSame(await axeFaults(page), [], look);
      await takePicture(page, `system-${look}`);
    }
    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
