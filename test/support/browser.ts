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
  Request,
} from '../../console/node_modules/playwright-core/index.js';
import { screenshotsFolder, skipsForbidden } from './environment.ts';
import type { Lifetime } from './lifetime.ts';
import { until } from './poll.ts';
import { findProgram } from './programs.ts';
import { shared } from './shared.ts';

export type { Locator, Page };

const CONSOLE = createRequire(
  join(import.meta.dirname, '..', '..', '..', 'console', 'package.json'),
);
/** A step that takes longer has failed; the machine may be busy with other tests. */
const STEP_MS = 60_000;
/** Looks at a page that has asked for nothing more: what follows an answer follows at once. */
const RESTS = 3;

export const LOOKS = {
  light: { colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  dark: { colorScheme: 'dark', viewport: { width: 1280, height: 900 } },
  phone: { colorScheme: 'light', viewport: { width: 390, height: 844 } },
} as const;

export type Look = keyof typeof LOOKS;

/** Closed with what it is for. Null: none of these programs is installed. */
export async function launchBrowser(
  t: Lifetime,
  programs: readonly string[] = ['chromium-headless-shell', 'chromium'],
): Promise<Browser | null> {
  const executablePath = programs.map(findProgram).find((path) => path !== null);
  if (executablePath === undefined) return null;
  const { chromium } = CONSOLE(
    'playwright-core',
  ) as typeof import('../../console/node_modules/playwright-core/index.js');
  // Run by root, Chromium has no sandbox; it opens only our own pages here.
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  t.teardown(() => browser.close());
  return browser;
}

type OpenBrowser = () => Promise<Browser | null>;

/**
 * The browser of all tests of this process; each has profiles of its own in it, and closes them.
 * The headless shell of Chromium takes a quarter less CPU than Chromium without a display.
 */
const sharedBrowser: OpenBrowser = shared((life) => launchBrowser(life));

const browserWithNotifications: OpenBrowser = shared((life) => launchBrowser(life, ['chromium']));

/** The length of a page's text that is shown: its beginning says where a test has stopped. */
const SHOWN_MAX = 1_000;

/** Skips, loudly, when there is no Chromium. */
export async function withBrowser(
  t: Test,
  body: (t: Test, browser: Browser) => Promise<void>,
  open: OpenBrowser = sharedBrowser,
): Promise<void> {
  const browser = await open();
  if (browser === null) {
    const reason = 'no browser: install chromium-headless-shell and chromium';
    if (skipsForbidden) t.fail(reason);
    else await t.test('chromium', { skip: reason }, () => undefined);
    return;
  }
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

/** `withBrowser` for a page that shows notifications, which the headless shell cannot. */
export const withNotifyingBrowser = (
  t: Test,
  body: (t: Test, browser: Browser) => Promise<void>,
): Promise<void> => withBrowser(t, body, browserWithNotifications);

/** Describes the open pages, for readers of a failed test. */
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

let loads = 0;

/** Loads a page from its beginning, as who follows a link, until all of it is shown. */
export async function loadRoom(page: Page, url: string): Promise<void> {
  const open = new Set<Request>();
  const ask = (request: Request) => void open.add(request);
  const end = (request: Request) => void open.delete(request);
  page.on('request', ask).on('requestfinished', end).on('requestfailed', end);
  // With the query of before, a page that is open would show another part of itself. A way over
  // about:blank costs a process each time.
  loads += 1;
  await page.goto(url.replace('/console/', `/console/?${loads}`));
  await page.locator('h1').waitFor();
  let rests = 0;
  await until('every request is answered, and nothing follows', async () => {
    rests = open.size === 0 ? rests + 1 : 0;
    if (rests >= RESTS) return true;
    // On a busy machine it may be some time until the page does what follows an answer.
    await page.evaluate('new Promise((rest) => setTimeout(rest))');
    return null;
  });
  await page.locator('.waiting').first().waitFor({ state: 'detached' });
  page.off('request', ask).off('requestfinished', end).off('requestfailed', end);
}

let axeCode: string | null = null;
function axeSource(): string {
  axeCode ??= readFileSync(CONSOLE.resolve('axe-core/axe.min.js'), 'utf8');
  return axeCode;
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

/**
 * The faults that axe-core finds on a page, or within a selector, by WCAG 2.0–2.2, A and AA; a line
 * for each.
 */
export async function axeFaults(page: Page, within = ':root'): Promise<readonly string[]> {
  // Half a megabyte, which a page keeps until it is loaded again.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axeSource());
  const result = (await page.evaluate(
    `axe.run(${JSON.stringify(within)}, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] })`,
  )) as AxeResult;
  return result.violations.map(
    ({ id, impact, nodes }) => `${impact} ${id}: ${nodes.map(({ html }) => html).join(' | ')}`,
  );
}

/**
 * Loads a page as a wide screen has it, light and then dark, and as a phone has it: it fits, and
 * axe-core finds nothing.
 */
export async function lookAtRoom(t: Test, page: Page, name: string, url: string): Promise<void> {
  const check = async (look: Look): Promise<void> => {
    const widthPx = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    t.ok(Number(widthPx) <= 0, `${name} ${look}: as wide as the window`);
    t.strictSame(await axeFaults(page), [], `${name} ${look}`);
    await takePicture(page, `${name}-${look}`);
  };
  await page.setViewportSize(LOOKS.light.viewport);
  await loadRoom(page, url);
  await check('light');
  // The scheme changes, like in the evening: the page that is open follows.
  await page.emulateMedia({ colorScheme: LOOKS.dark.colorScheme });
  await check('dark');
  await page.emulateMedia({ colorScheme: LOOKS.phone.colorScheme });
  await page.setViewportSize(LOOKS.phone.viewport);
  await loadRoom(page, url);
  await check('phone');
}

/** A picture of the whole page, where somebody wants to look at it. */
export async function takePicture(page: Page, name: string): Promise<void> {
  if (screenshotsFolder === undefined) return;
  await page.screenshot({ path: join(screenshotsFolder, `${name}.png`), fullPage: true });
}
