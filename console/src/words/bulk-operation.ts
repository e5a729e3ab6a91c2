/** A bulk operation as people read it: what it does, how it is, what came of it. */

import type { BulkOperation } from '../../../packages/client/src/openapi.ts';
import { bulkTexts as texts } from '../texts/bulk.ts';

export const OUTCOMES = ['changed', 'unchanged', 'unknown', 'full', 'refused'] as const;
const FAULTS = ['unknown', 'full', 'refused'] as const;

export function actionInWords(
  { action, tagIds = [], tagId = 0, toTagId = 0 }: BulkOperation,
  names: ReadonlyMap<number, string>,
): string {
  const nameOf = (id: number): string => names.get(id) ?? texts.gone(id);
  switch (action) {
    case 'subscribe':
    case 'unsubscribe':
      return texts.actionOf[action](tagIds.map(nameOf).join(', '));
    case 'copy':
    case 'move':
      return texts.actionOf[action](nameOf(tagId), nameOf(toTagId));
    case 'remove':
      return texts.actionOf.remove(nameOf(tagId));
    case 'attributes':
      return texts.actionOf.attributes;
  }
}

export const isOpen = ({ state }: BulkOperation): boolean =>
  state === 'QUEUED' || state === 'RUNNING';

export function bulkStateOf(operation: BulkOperation): {
  readonly kind: string;
  readonly sign: string;
  readonly label: string;
} {
  const label = texts.states[operation.state];
  switch (operation.state) {
    case 'QUEUED':
      return { kind: 'skipped', sign: '…', label };
    case 'RUNNING':
      return { kind: 'live', sign: '', label };
    case 'CANCELLED':
      return { kind: 'cancelled', sign: '–', label };
    case 'FINISHED':
      return FAULTS.some((name) => operation[name] > 0)
        ? { kind: 'expired', sign: '!', label: texts.withErrors }
        : { kind: 'accepted', sign: '✓', label };
  }
}

/** From 0 to 1: members come and go, so more may be done than were counted. */
export const shareDone = ({ done, total, state }: BulkOperation): number =>
  state === 'FINISHED' ? 1 : Math.min(1, done / Math.max(1, total));
