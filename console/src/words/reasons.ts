/** Explains the reasons of failures in words. */

import type { Notification } from '../../../packages/client/src/openapi.ts';
import type { Reason } from '../texts/notifications.ts';
import { reasonTexts, reasonUnknown } from '../texts/notifications.ts';

/** Reasons of the engine begin with a word and a colon. */
export const meaningOf = (reason: string): Reason =>
  reasonTexts[reason] ?? reasonTexts[reason.split(':')[0] ?? ''] ?? reasonUnknown;

interface ExplainedReason extends Reason {
  /** Providers have several words for the same. */
  readonly codes: readonly string[];
  readonly count: number;
  /** An app that it happened to. */
  readonly appId: number | undefined;
}

/** The reasons of a notification, each meaning once, the most frequent first. */
export function reasonsOf({ failureReasons, platforms }: Notification): readonly ExplainedReason[] {
  const explained = new Map<string, ExplainedReason>();
  for (const [code, count] of Object.entries(failureReasons)) {
    const reason = meaningOf(code);
    const before = explained.get(reason.meaning);
    explained.set(reason.meaning, {
      ...reason,
      codes: [...(before?.codes ?? []), code],
      count: (before?.count ?? 0) + count,
      appId: before?.appId ?? platforms.find((row) => code in (row.failureReasons ?? {}))?.appId,
    });
  }
  return [...explained.values()].toSorted((a, b) => b.count - a.count);
}
