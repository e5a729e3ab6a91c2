/** Finds recent notifications that a draft would repeat. */

import type { ListedNotification, Notification } from '../../../packages/client/src/openapi.ts';
import type { DraftFields } from '../state/draft.svelte.ts';
import { DAY_MS } from '../words/format.ts';
import { sentAtOf } from '../words/notification.ts';
import { hasSameTags, hasSameText, reachesSomebody } from '../words/repeats.ts';
import type { ClientApi } from './client.ts';

export interface Repeats {
  /** The newest with the same text; undefined: there is none. */
  readonly text: Notification | undefined;
  readonly tags: Notification | undefined;
  /** There may be one with the same text that was not read. */
  readonly isCut: boolean;
}

const RECENT_MS = 30 * 60_000;
/** One that was scheduled longer ago is not found. */
const ACCEPTED_WITHIN_MS = 7 * DAY_MS;
/** More within half an hour come from a system, not from people. */
const LISTED_MAX = 100;
/** Each of these is a request. */
const READ_MAX = 10;

export async function findRepeats(
  api: ClientApi,
  fields: DraftFields,
  signal: AbortSignal,
): Promise<Repeats> {
  const nowMs = Date.now();
  const recentMs = nowMs - RECENT_MS;
  const list = async (filter: { readonly tagId?: number }) => {
    const query = { limit: LISTED_MAX, from: nowMs - ACCEPTED_WITHIN_MS, ...filter };
    const path = '/push-api/v3/{client}/notifications';
    return (await api.request('GET', path, { query, signal })).body;
  };
  const [tag] = fields.any;
  const listed = await list({});
  const ofTag = fields.isExpression || tag === undefined ? listed : await list({ tagId: tag.id });
  const title = fields.title || fields.message;
  const isSame = ({ title: shown }: ListedNotification) =>
    shown !== undefined && title.startsWith(shown);
  const isRecent = (one: ListedNotification) =>
    one.acceptedAt >= recentMs || (one.state !== 'SCHEDULED' && sentAtOf(one) >= recentMs);
  const idsOf = (rows: readonly ListedNotification[]) => rows.filter(isRecent).map(({ id }) => id);
  const same = idsOf(listed.filter(isSame));
  const recent: Notification[] = [];
  // One by one: a client may have few reads at once.
  for (const id of [...new Set([...same, ...idsOf(ofTag)])].slice(0, READ_MAX)) {
    const path = { id };
    recent.push(
      (await api.request('GET', '/push-api/v3/{client}/notifications/{id}', { path, signal })).body,
    );
  }
  const sent = recent.filter(reachesSomebody).toSorted((a, b) => sentAtOf(b) - sentAtOf(a));
  const oldest = listed.at(LISTED_MAX - 1);
  return {
    text: sent.find((one) => hasSameText(fields, one)),
    tags: sent.find((one) => hasSameTags(fields, one)),
    isCut: same.length > READ_MAX || (oldest !== undefined && oldest.acceptedAt >= recentMs),
  };
}
