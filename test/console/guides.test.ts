/** The guides as a browser shows them: every page, every link, on a wide screen and on a phone. */

import type { Test } from 'tap';
import t from 'tap';
import { builtFiles, GUIDES_FOLDER } from '../../src/api/open/built-files.ts';
import type { Look, Page } from '../support/browser.ts';
import { axeFaults, LOOKS, openPage, takePicture, withBrowser } from '../support/browser.ts';
import { sharedEngine } from '../support/console.ts';
import { DOCUMENTS } from '../support/documents.ts';

t.setTimeout(300_000);

/** Those that show every form that a page has. */
const LOOKED_AT = ['./', 'concepts', 'quick-start', 'limits', 'nobody'];
/** The documents that are pages. */
const PAGE = /^docs\/|^packages\/(?:http2|simulator)\//;
const POLICY_BREAKERS =
  /<script(?! src=)|<style| style="| on\w+="|<link[^>]+href="https?:|src="https?:/;

t.test('every page is built, and has nothing that its policy forbids', async (t) => {
  const files = await builtFiles(GUIDES_FOLDER)();
  if (files === null) throw new Error(`${GUIDES_FOLDER} is not there: npm run build`);
  const pages = [...files].filter(([name]) => name.endsWith('.html'));
  const documents = DOCUMENTS.filter((path) => PAGE.test(path));
  // One more: that there is no such page.
  t.equal(pages.length, documents.length + 1, 'each of these documents is a page');
  for (const [name, { octets, coded }] of pages) {
    t.notMatch(octets.toString(), POLICY_BREAKERS, name);
    t.ok(coded.br !== undefined && coded.gzip !== undefined, `${name} is compressed`);
  }
});

t.test('every link of a page leads to where it says', async (t) => {
  const { demo } = await sharedEngine();
  const seen = new Map<string, string>();
  const textOf = async (url: string): Promise<string> => {
    const known = seen.get(url);
    if (known !== undefined) return known;
    const answer = await fetch(url);
    if (answer.status !== 200) t.fail(`${url}: ${answer.status}`);
    const text = await answer.text();
    seen.set(url, text);
    return text;
  };
  const open = [`${demo.baseUrl}/docs/`];
  for (const url of open) {
    const text = await textOf(url);
    if (!url.includes('/docs/') || url.endsWith('/docs/api')) continue;
    for (const [, target = ''] of text.matchAll(/ (?:href|src)="([^"]+)"/g)) {
      const { href, hash, origin } = new URL(target, url);
      if (origin !== demo.baseUrl) continue;
      const page = href.slice(0, href.length - hash.length);
      const there = await textOf(page);
      if (hash !== '') t.ok(there.includes(`id="${hash.slice(1)}"`), `${url}: ${target}`);
      if (!open.includes(page)) open.push(page);
    }
  }
  t.ok(open.length > 20, `${open.length} addresses`);
});

t.test('readable and accessible: wide, dark, on a phone', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo } = await sharedEngine();
    for (const look of Object.keys(LOOKS) as Look[]) {
      const { page, complaints } = await openPage(t, browser, look);
      for (const name of LOOKED_AT) {
        await page.goto(`${demo.baseUrl}/docs/${name}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        t.same(await axeFaults(page), [], `${look}: ${name}`);
        t.ok(await fits(page), `${look}: ${name} is not wider than the screen`);
        await takePicture(page, `guides-${look}-${name === './' ? 'index' : name}`);
      }
      t.same(complaints, [], 'the page complains of nothing');
    }
    await copies(t, browser, demo.baseUrl);
  }),
);

const fits = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth <= innerWidth');

/** From a missing page to the quick start, and a block from there into the clipboard. */
async function copies(
  t: Test,
  browser: Parameters<typeof openPage>[1],
  baseUrl: string,
): Promise<void> {
  const { page, context } = await openPage(t, browser);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(`${baseUrl}/docs/nobody`);
  await page.getByRole('article').getByRole('link', { name: 'quick start' }).click();
  await page.getByRole('heading', { name: 'Quick start', level: 1 }).waitFor();
  // The button says for two seconds that it has copied.
  await Promise.all([
    page.getByRole('button', { name: 'Copied' }).waitFor(),
    page.getByRole('button', { name: 'Copy', exact: true }).first().click(),
  ]);
  t.equal(await page.evaluate('navigator.clipboard.readText()'), 'npm start\n');
}
