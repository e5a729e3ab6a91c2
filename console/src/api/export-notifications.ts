/** Makes a CSV file of the list of notifications, by the filters of the address. */

import type { ListedNotification } from '../../../packages/client/src/openapi.ts';
import { notificationTexts as texts } from '../texts/notifications.ts';
import type { Cell } from '../words/csv.ts';
import { csvOf } from '../words/csv.ts';
import type { TagNames } from '../words/listed-audience.ts';
import { audienceInWords, platformsInWords, shownTagIds } from '../words/listed-audience.ts';
import { standingOf } from '../words/outcomes.ts';
import type { ClientApi } from './client.ts';
import { listNotifications } from './notifications.ts';
import { KnownTagNames } from './tags-by-id.ts';

/** More than a spreadsheet is read for, in ten requests; the file has the newest. */
export const EXPORTED_MAX = 10_000;
const PAGE_ROWS = 1_000;
/** The engine lists no more of each list of tags. */
const NAMED_TAGS_MAX = 10;
/** Tenths of a percent. */
const SHARE_STEPS = 1_000;

export interface ExportedList {
  readonly csv: string;
  /** There are more, which are not in the file. */
  readonly isCut: boolean;
}

export async function exportNotifications(
  api: ClientApi,
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<ExportedList> {
  const filters = new URLSearchParams(query);
  filters.delete('cursor');
  const known = new KnownTagNames(api);
  const rows: (readonly Cell[])[] = [texts.exportHead];
  let cursor: string | null = null;
  do {
    if (cursor !== null) filters.set('cursor', cursor);
    const page = await listNotifications(api, filters, signal, PAGE_ROWS);
    await known.learn(
      page.rows.flatMap((row) => shownTagIds(row, NAMED_TAGS_MAX)),
      signal,
    );
    rows.push(...page.rows.map((row) => cellsOf(row, known.names)));
    ({ cursor } = page);
  } while (cursor !== null && rows.length <= EXPORTED_MAX);
  return { csv: csvOf(rows), isCut: cursor !== null };
}

/** In the order of `exportHead`. */
const cellsOf = (row: ListedNotification, names: TagNames): readonly Cell[] => [
  row.id,
  row.title ?? '',
  standingOf(row).label,
  row.userName,
  isoOf(row.acceptedAt),
  isoOf(row.sendAt),
  isoOf(row.finishedAt),
  audienceInWords(row, names, NAMED_TAGS_MAX),
  platformsInWords(row),
  row.totalCount,
  row.successCount,
  row.failedCount,
  row.totalCount === 0 ? '' : shareOf(row.failedCount, row.totalCount),
  row.expiredCount,
  row.skippedCount,
  row.cancelledCount,
  row.withheldCount ?? 0,
];

const isoOf = (atMs: number | undefined): string =>
  atMs === undefined ? '' : new Date(atMs).toISOString();

const shareOf = (part: number, whole: number): number =>
  Math.round((part / whole) * SHARE_STEPS) / (SHARE_STEPS / 100);
