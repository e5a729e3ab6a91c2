/** The list of notifications on a page of the console. */

import type { Page } from './browser.ts';
import { until } from './poll.ts';

/** Resolves when the list has these titles and no others, newest first. */
export const listsOn =
  (page: Page) =>
  (...titles: readonly string[]): Promise<true> =>
    until(`the list has ${titles.join(', ') || 'none'}`, async () => {
      const rows = page.getByRole('region', { name: 'Notifications' }).getByRole('rowheader');
      const listed = await rows.getByRole('link').allTextContents();
      return listed.join() === titles.join() ? true : null;
    });
