/** The result of a change of tags, groups and apps: it is done, or why it is not. */

import type { AuditedChange } from '../domain/audit.ts';
import type { ClientLimits, OverLimit } from '../domain/client-limits.ts';
import type { FormFault } from '../std/strict-form.ts';
import type { Leaving } from './sql/removals.ts';

export type Refusal =
  | { readonly kind: 'invalid'; readonly faults: readonly FormFault[] }
  /** The caller's key has limits, and this is not within them. */
  | { readonly kind: 'outside'; readonly path: string }
  | { readonly kind: 'over-limit'; readonly over: OverLimit }
  | { readonly kind: 'taken' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'in-use'; readonly operationId: number }
  /** Devices of the app may still have the tag, which was disconnected there. */
  | ({ readonly kind: 'leaving'; readonly tagIds: readonly number[] } & Leaving)
  /** A group with tags or groups in it. */
  | { readonly kind: 'not-empty' };

export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: Refusal };

export const done = <T>(value: T): Outcome<T> => ({ ok: true, value });
export const refused = (refusal: Refusal): Outcome<never> => ({ ok: false, refusal });

/** The client of a change, whose row is locked. */
export interface ChangedClient {
  readonly limits: ClientLimits;
  record(change: AuditedChange): Promise<void>;
}

export type Recorder = ChangedClient['record'];
