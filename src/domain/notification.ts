/** One submitted push: its payload, its audience, and its states. */

import type { z } from 'zod';
import type { JsonObject } from '../../packages/std/src/json.ts';
import type { AudienceCondition } from './audience-condition.ts';
import type { Scope } from './device.ts';
import { scopeKeyOf } from './device.ts';
import type { payloadFields } from './payload.ts';

/**
 * ```
 * SCHEDULED ──┐due, planned
 * QUEUED ─────┴──► RUNNING ──last chunk, last retry──► FINISHED
 *                     └──fault before anything was accepted──► FAILED
 * these three ──pause──► PAUSED ──resume──► as before
 * these four ──cancel──► CANCELLED
 * ```
 */
export const NOTIFICATION_STATES = [
  'SCHEDULED',
  'QUEUED',
  'RUNNING',
  'PAUSED',
  'FINISHED',
  'FAILED',
  'CANCELLED',
] as const;
export type NotificationState = (typeof NOTIFICATION_STATES)[number];

/** Whether nothing more of it is sent. The rest of a cancelled one may still be counted. */
export const hasEnded = (state: NotificationState): boolean =>
  state === 'FINISHED' || state === 'FAILED' || state === 'CANCELLED';

/**
 * Where urgent and other sends of a client wait for the same thing, the urgent ones get it so many
 * times for each time that another gets it: the rest keeps a fifth (decision 47).
 * @limit turns and slots of a client's urgent sends for each one of its others, while both wait →
 * the rest keeps a fifth
 */
export const URGENT_PER_OTHER = 4;

/**
 * How a request selects devices by tags: the fields that name the tags, the list of the audience
 * that they become, and what an unknown tag means: it adds no device, it leaves no device, or the
 * request is refused.
 */
export const SELECTORS = {
  target: {
    ids: 'tagIds',
    sourceIds: 'tagSourceIds',
    list: 'anyTagIds',
    ifUnknown: 'adds-nobody',
  },
  filter: {
    ids: 'filterTagIds',
    sourceIds: 'filterTagSourceIds',
    list: 'allTagIds',
    ifUnknown: 'leaves-nobody',
  },
  exclude: {
    ids: 'excludeTagIds',
    sourceIds: 'excludeTagSourceIds',
    list: 'noneTagIds',
    ifUnknown: 'is-refused',
  },
} as const;
export type Selector = keyof typeof SELECTORS;
export const SELECTOR_NAMES = Object.keys(SELECTORS) as readonly Selector[];

/** Something for each selector. */
export const bySelector = <T>(of: (selector: Selector) => T): Readonly<Record<Selector, T>> =>
  Object.fromEntries(SELECTOR_NAMES.map((name) => [name, of(name)])) as Record<Selector, T>;

/** Ids are distinct. */
type TagLists = Readonly<Record<(typeof SELECTORS)[Selector]['list'], readonly number[]>>;

/** The target devices have any of the first tags, all of the second, none of the third. */
export interface Audience extends TagLists {
  /**
   * The further condition, of an expression that the three lists cannot state; absent or null:
   * none. A tag that it selects by is in `anyTagIds` too: one that has left these has expired, and
   * no device has it where it selects.
   */
  readonly condition?: AudienceCondition | null;
}

/** The lists that the tags of each selector become. */
export const audienceOf = (tagIdsOf: (selector: Selector) => readonly number[]): TagLists =>
  Object.fromEntries(
    SELECTOR_NAMES.map((name) => [SELECTORS[name].list, tagIdsOf(name)]),
  ) as TagLists;

/** One scope of a notification: all of it that is for one (app, platform). */
export interface NotificationScope extends Scope {
  readonly notificationId: string;
}

/** The map key of a notification's scope. */
export const notificationScopeKeyOf = (scope: NotificationScope): string =>
  `${scope.notificationId}.${scopeKeyOf(scope)}`;

/** The push types of APNs (its header apns-push-type) that a publisher may name. */
export const APNS_PUSH_TYPES = [
  'alert',
  'background',
  'voip',
  'complication',
  'location',
  'pushtotalk',
] as const;
export type ApnsPushType = (typeof APNS_PUSH_TYPES)[number];

/**
 * The common form of a payload after validation (internals/interface.md, "Payload"). Unknown fields
 * are in `data`.
 */
export interface Payload extends Readonly<Omit<z.infer<typeof payloadFields>, 'ttl' | 'data'>> {
  readonly ttlSeconds?: number;
  readonly data: Readonly<Record<string, unknown>>;
  /** For devices with these tags; of several, the first counts. Absent: the same for all. */
  readonly languages?: readonly LanguagePayload[];
}

export interface LanguagePayload {
  readonly tagSourceId: string;
  /** Absent: the tag is not looked up yet. */
  readonly tagId?: number;
  readonly payload: Payload;
}

/**
 * The payloads that a push has instead of one for all, made when it was accepted: by the templates
 * of its (app, platform)s, or in several languages.
 */
export interface TemplatedPayload {
  /** The payload as its publisher wrote it. */
  readonly given: JsonObject;
  /** Keyed by scope. A scope without a template is not among them. */
  readonly payloads: Readonly<Record<string, Payload>>;
}

/** The data of a notification that a sender needs to render it. */
export interface Message {
  readonly notificationId: string;
  readonly payload: Payload;
  /** The notification's own end, or null; senders turn it and the ttl into the provider's form. */
  readonly expiresAtMs: number | null;
  /**
   * The time of the send as planned, not before its acceptance: a payload's ttl counts from here.
   */
  readonly dueAtMs: number;
}

/**
 * Sends over all devices of a scope; total = the sum of the five once the notification is final.
 */
export interface Counts {
  readonly total: number;
  readonly delivered: number;
  readonly failed: number;
  readonly skipped: number;
  readonly expired: number;
  readonly cancelled: number;
}
