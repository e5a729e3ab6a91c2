/** Answers of an engine that a test holds back, to give them to the page later than others. */

import type { Page } from './browser.ts';
import { until } from './poll.ts';

/** An answer that the engine has given and the page has not. */
export interface HeldAnswer {
  readonly status: number;
  readonly give: () => Promise<void>;
  /** In place of it the connection breaks. */
  readonly lose: () => Promise<void>;
}

/** Until the page has drawn what it makes of an answer. */
const TO_REDRAW_MS = 300;

/** Holds all answers to GET of these addresses back. Answers what waits for the next of them. */
export async function holdBack(page: Page, url: RegExp): Promise<() => Promise<HeldAnswer>> {
  const held: HeldAnswer[] = [];
  await page.route(url, async (route) => {
    if (route.request().method() !== 'GET') return await route.continue();
    const response = await route.fetch();
    held.push({
      status: response.status(),
      give: async () => {
        await route.fulfill({ response });
        await page.waitForTimeout(TO_REDRAW_MS);
      },
      lose: async () => {
        await route.abort();
        await page.waitForTimeout(TO_REDRAW_MS);
      },
    });
    return undefined;
  });
  return () => until(`an answer of ${url}`, () => held.shift() ?? null);
}
