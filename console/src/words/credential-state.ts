/** How the account of an app at a provider is, as one word and one sentence. */

import type { ProviderCredential } from '../../../packages/client/src/openapi.ts';
import { credentialTexts as texts } from '../texts/credentials.ts';
import { ago, DAY_MS, dateTime, when } from './format.ts';

export interface CredentialState {
  readonly kind: 'accepted' | 'failed' | 'expired' | 'skipped';
  readonly sign: string;
  readonly label: string;
  readonly sentence: string;
  /** Whether somebody should do something. */
  readonly isTrouble: boolean;
}

/**
 * The page warns of a key that ends within this time: from the day on which the engine warns first.
 */
const SOON_MS = 30 * DAY_MS;

export function credentialStateOf(one: ProviderCredential, nowMs = Date.now()): CredentialState {
  const { hasCredential, refused, failing, check, expiresAt, acceptedAt, fallbackUntil } = one;
  if (!hasCredential) return { ...NONE, sentence: texts.missing };
  if (refused !== undefined) {
    const meaning = refused.meaning || refused.reason;
    const sentence =
      fallbackUntil === undefined
        ? meaning
        : `${meaning} ${texts.fallback(dateTime(fallbackUntil))}`;
    return { ...BAD, sentence };
  }
  if (failing !== undefined) {
    return { ...BAD, sentence: texts.since(when(failing.since, nowMs), failing.meaning) };
  }
  if (check?.ok === false) return { ...BAD, sentence: check.note };
  if (expiresAt !== undefined && expiresAt < nowMs + SOON_MS) {
    const [label, sentence] =
      expiresAt < nowMs
        ? [texts.ended, texts.replaceNow]
        : [texts.until(dateTime(expiresAt)), texts.replaceSoon];
    return { kind: 'expired', sign: '!', label, sentence, isTrouble: true };
  }
  if (check?.ok === true || acceptedAt !== undefined) {
    const at = Math.max(check?.at ?? 0, acceptedAt ?? 0);
    return { ...GOOD, sentence: at === 0 ? texts.works : texts.accepted(ago(at, nowMs)) };
  }
  return { ...UNKNOWN, sentence: check?.note ?? texts.unknown };
}

const NONE = { kind: 'skipped', sign: '–', label: texts.none, isTrouble: true } as const;
const BAD = { kind: 'failed', sign: '✕', label: texts.refused, isTrouble: true } as const;
const GOOD = { kind: 'accepted', sign: '✓', label: texts.works, isTrouble: false } as const;
const UNKNOWN = { kind: 'skipped', sign: '?', label: texts.notAsked, isTrouble: false } as const;
