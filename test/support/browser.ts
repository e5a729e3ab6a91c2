/**
 * A real browser for tests of the console: Debian's Chromium, driven by the playwright-core of
 * console/, with axe-core beside it.
 */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Test } from 'tap';
import type {
  Browser,
  BrowserContext,
  Locator,
  Page,
} from '../../console/node_modules/playwright-core/index.js';
import { screenshotsFolder, skipsForbidden } from './environment.ts';
import type { Lifetime } from './lifetime.ts';
import { findProgram } from './programs.ts';

export type { Locator, Page };

const CONSOLE = createRequire(
  join(import.meta.dirname, '..', '..', '..', 'console', 'package.json'),
);
/** A step that takes longer has failed; the machine may be busy with other tests. */
const STEP_MS = 30_000;

export const LOOKS = {
  light: { colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  dark: { colorScheme: 'dark', viewport: { width: 1280, height: 900 } },
  phone: { colorScheme: 'light', viewport: { width: 390, height: 844 } },
} as const;

export type Look = keyof typeof LOOKS;

/** Null: Chromium is not installed. */
export async function launchBrowser(): Promise<Browser | null> {
  const executablePath = findProgram('chromium');
  if (executablePath === null) return null;
  const { chromium } = CONSOLE(
    'playwright-core',
  ) as typeof import('../../console/node_modules/playwright-core/index.js');
  // As root Chromium has no sandbox; what it opens here is ours alone.
  return await chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

/** Of a page's text: what it says first tells where a test has stopped. */
const SHOWN_MAX = 1_000;

/** Skips, loudly, when there is no Chromium. */
export async function withBrowser(
  t: Test,
  body: (t: Test, browser: Browser) => Promise<void>,
): Promise<void> {
  const browser = await launchBrowser();
  if (browser === null) {
    const reason = 'no browser: install chromium';
    if (skipsForbidden) t.fail(reason);
    else await t.test('chromium', { skip: reason }, () => undefined);
    return;
  }
  t.teardown(() => browser.close());
  await t.test('chromium', async (t) => {
    let hasEnded = false;
    try {
      await body(t, browser);
      hasEnded = true;
    } finally {
      if (!hasEnded || !t.passing()) await describePages(t, browser);
    }
  });
}

/** What the open pages show, for who reads why a test has failed. */
async function describePages(t: Test, browser: Browser): Promise<void> {
  for (const page of browser.contexts().flatMap((context) => context.pages())) {
    // A page that is gone must not hide why the test has failed.
    const text = String(await page.evaluate('document.body.innerText').catch(String));
    t.comment(`${page.url()} shows: ${text.slice(0, SHOWN_MAX)}`);
  }
}

/** A page of its own profile. What its code complains of is kept in `complaints`. */
export async function openPage(
  t: Lifetime,
  browser: Browser,
  look: Look = 'light',
): Promise<{
  readonly page: Page;
  readonly context: BrowserContext;
  readonly complaints: string[];
}> {
  const context = await browser.newContext(LOOKS[look]);
  t.teardown(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(STEP_MS);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // A refused request is the page's business; it says so in its own words.
    const isRefusal = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isRefusal) complaints.push(message.text());
  });
  return { page, context, complaints };
}

/** Loads a page from its beginning, as who follows a link, until all of it is shown. */
export async function loadRoom(page: Page, url: string): Promise<void> {
  // To another fragment of the page that is open there is no load.
  await page.goto('about:blank');
  await page.goto(url);
  await page.locator('h1').waitFor();
  await page.waitForLoadState('networkidle');
  await page.locator('.waiting').first().waitFor({ state: 'detached' });
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

/**
 * What axe-core finds on a page, or in what a selector names, by WCAG 2.0–2.2, A and AA; a line
 * for each.
 */
export async function axeFaults(page: Page, within = ':root'): Promise<readonly string[]> {
  await page.evaluate(readFileSync(CONSOLE.resolve('axe-core/axe.min.js'), 'utf8'));
  const result = (await page.evaluate(
    `axe.run(${JSON.stringify(within)}, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] })`,
  )) as AxeResult;
  return result.violations.map(
    ({ id, impact, nodes }) => `${impact} ${id}: ${nodes.map(({ html }) => html).join(' | ')}`,
  );
}

/** A picture of the whole page, where somebody wants to look at it. */
export async function takePicture(page: Page, name: string): Promise<void> {
  if (screenshotsFolder === undefined) return;
  await page.screenshot({ path: join(screenshotsFolder, `${name}.png`), fullPage: true });
}
