/** Finds recent notifications that a draft would repeat. */

import type { ListedNotification, Notification } from '../../../packages/client/src/openapi.ts';
import type { DraftFields } from '../state/draft.svelte.ts';
import { titleOf } from '../words/notification.ts';
import { payloadOf } from '../words/push-body.ts';
import { hasSameTags, hasSameText, reachesSomebody } from '../words/repeats.ts';
import type { ClientApi } from './client.ts';

export interface Repeats {
  /** The newest with the same text; undefined: there is none. */
  readonly text: Notification | undefined;
  readonly tags: Notification | undefined;
}

const RECENT_MS = 30 * 60_000;
/** More within that time come from a system, not from people. */
const LISTED_MAX = 50;
/** Each of these is a request. */
const READ_MAX = 10;

export async function findRepeats(
  api: ClientApi,
  fields: DraftFields,
  signal: AbortSignal,
): Promise<Repeats> {
  const from = Date.now() - RECENT_MS;
  const list = async (filter: { readonly tagId?: number }) => {
    const query = { limit: LISTED_MAX, from, ...filter };
    const path = '/push-api/v3/{client}/notifications';
    return (await api.request('GET', path, { query, signal })).body;
  };
  const [tag] = fields.any;
  const listed = await list({});
  const ofTag = fields.isExpression || tag === undefined ? listed : await list({ tagId: tag.id });
  const title = titleOf(payloadOf(fields));
  const isSame = ({ title: shown }: ListedNotification) =>
    shown !== undefined && title.startsWith(shown);
  const candidates = [...listed.filter(isSame), ...ofTag].map(({ id }) => id);
  const recent: Notification[] = [];
  // One by one: a client may have few reads at once. Ids sort by time.
  for (const id of [...new Set(candidates)].sort().reverse().slice(0, READ_MAX)) {
    const path = { id };
    recent.push(
      (await api.request('GET', '/push-api/v3/{client}/notifications/{id}', { path, signal })).body,
    );
  }
  const sent = recent.filter(reachesSomebody);
  return {
    text: sent.find((one) => hasSameText(fields, one)),
    tags: sent.find((one) => hasSameTags(fields, one)),
  };
}
