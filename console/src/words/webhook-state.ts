/** How a webhook and its deliveries are, as a word and a sentence. */

import type { Webhook, WebhookDelivery } from '../../../packages/client/src/openapi.ts';
import { deliveryTexts, webhookTexts as texts } from '../texts/webhooks.ts';
import { number, when } from './format.ts';

export interface ShownState {
  readonly kind: 'accepted' | 'failed' | 'expired' | 'skipped' | 'cancelled';
  readonly sign: string;
  readonly label: string;
}

/** The receiver's name: its path may hold a secret. */
export const hostOf = ({ url }: Pick<Webhook, 'url'>): string => new URL(url).host;

/** Deliveries say why its requests fail and since when: the newest ones. */
export interface NewestDeliveries {
  readonly rows: readonly WebhookDelivery[];
  /** Null: there are no others. */
  readonly cursor: string | null;
}

export function webhookStateOf(
  webhook: Webhook,
  newest: NewestDeliveries | null = null,
  nowMs = Date.now(),
): ShownState & { readonly sentence: string } {
  const { goneAt, isEnabled, failures } = webhook;
  if (goneAt !== undefined) {
    const sentence = texts.goneLine(hostOf(webhook), when(goneAt, nowMs));
    return { ...BAD, label: texts.gone, sentence };
  }
  if (!isEnabled) return { kind: 'skipped', sign: '–', label: texts.off, sentence: texts.offLine };
  if (failures > 0) {
    return { ...BAD, label: texts.failing, sentence: failedSentence(webhook, newest, nowMs) };
  }
  return { kind: 'accepted', sign: '✓', label: texts.on, sentence: texts.onLine };
}

function failedSentence(webhook: Webhook, newest: NewestDeliveries | null, nowMs: number): string {
  const { rows, cursor } = newest ?? { rows: [], cursor: null };
  const count = number(webhook.failures);
  const failing = failingOf(rows);
  const [last] = failing.toSorted((a, b) => lastAttemptOf(b) - lastAttemptOf(a));
  if (last === undefined) return texts.failed(count);
  const { status, fault = '' } = last;
  const why = status === undefined ? fault : texts.answered(status, hostOf(webhook));
  // Older ones that are not known may have failed before these.
  const isBeginKnown = cursor === null || failing.length < rows.length;
  if (webhook.failures === 1 || !isBeginKnown) return texts.failedWhy(count, why);
  const since = Math.min(...failing.map(({ createdAt }) => createdAt));
  return texts.failedSince(count, why, when(since, nowMs));
}

const lastAttemptOf = ({ lastAttemptAt = 0 }: WebhookDelivery): number => lastAttemptAt;

/** Those that failed after the last one that was delivered. */
function failingOf(deliveries: readonly WebhookDelivery[]): readonly WebhookDelivery[] {
  const delivered = deliveries.filter(({ state }) => state === 'delivered').map(lastAttemptOf);
  const deliveredAt = Math.max(0, ...delivered);
  return deliveries.filter(
    (one) =>
      one.state !== 'delivered' && one.fault !== undefined && lastAttemptOf(one) > deliveredAt,
  );
}

export function deliveryStateOf({ state, fault }: WebhookDelivery): ShownState {
  switch (state) {
    case 'delivered':
      return { kind: 'accepted', sign: '✓', label: deliveryTexts.states.delivered };
    case 'dead':
      return { ...BAD, label: deliveryTexts.states.dead };
    case 'pending':
      return fault === undefined
        ? { kind: 'skipped', sign: '…', label: deliveryTexts.states.pending }
        : { kind: 'expired', sign: '!', label: deliveryTexts.retried };
  }
}

const BAD = { kind: 'failed', sign: '✕' } as const;
