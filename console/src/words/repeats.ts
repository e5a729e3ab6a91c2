/** Compares a draft with notifications that were sent before. */

import type { Notification } from '../../../packages/client/src/openapi.ts';
import type { DraftFields } from '../state/draft.svelte.ts';

/** Two that show no text do not have the same one. */
export const hasSameText = (fields: DraftFields, { payload }: Notification): boolean =>
  (fields.title !== '' || fields.message !== '') &&
  (payload.title ?? '') === fields.title &&
  (payload.message ?? payload.body ?? '') === fields.message;

/** The tags that people are reached by; those that narrow the audience may differ. */
export function hasSameTags(fields: DraftFields, { audience }: Notification): boolean {
  if (fields.isExpression || audience.expression !== undefined) {
    return fields.isExpression && fields.expression.trim() === audience.expression?.trim();
  }
  const ids = new Set(fields.any.map(({ id }) => id));
  return ids.size === audience.tagIds.length && audience.tagIds.every((id) => ids.has(id));
}

/** Whether the notification has reached a device, or will. */
export const reachesSomebody = ({ state, successCount }: Notification): boolean =>
  successCount > 0 || (state !== 'CANCELLED' && state !== 'FAILED');
