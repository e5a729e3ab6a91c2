/** Saves drafts, and puts aside what is not saved, so that nothing takes its place unasked. */

import type { Draft as ApiDraft } from '../../../packages/client/src/openapi.ts';
import type { ClientApi } from '../api/client.ts';
import { saveDraft } from '../api/drafts.ts';
import type { DraftFields, SavedDraft } from '../state/draft.svelte.ts';
import { isUnsaved, keptDraft, textOf } from '../state/draft.svelte.ts';
import { draftTexts as texts } from '../texts/drafts.ts';

const NAME_LENGTH_MAX = 255;

/** A name for what has none yet. */
export const nameOf = ({ title, message }: Pick<DraftFields, 'title' | 'message'>): string =>
  (title || message).replaceAll(/\s+/g, ' ').trim().slice(0, NAME_LENGTH_MAX) || texts.untitled;

/** `fields`: what was saved with it. */
export const savedAs = (
  { id, revision, name, userName, updatedAt }: Omit<ApiDraft, 'content'>,
  fields: DraftFields,
): SavedDraft => ({ id, revision, name, userName, updatedAt, text: JSON.stringify(fields) });

/** The fields as the engine keeps them. */
export const contentOf = (fields: DraftFields): ApiDraft['content'] =>
  JSON.parse(JSON.stringify(fields)) as ApiDraft['content'];

/**
 * Saves what this browser has and no draft of the client: something else takes its place. Answers
 * its name; null: there is nothing to lose.
 */
export async function putAside(api: ClientApi): Promise<string | null> {
  const { fields, saved, edited } = keptDraft(api.clientId);
  if (!isUnsaved(fields, saved) || edited?.text === textOf(fields)) return null;
  const { name } = await saveDraft(api, saved?.name ?? nameOf(fields), contentOf(fields));
  return name;
}
