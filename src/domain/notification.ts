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
 * Decision 47 has the reason.
 * @limit turns and slots of a client's urgent sends for each one of its others, while both wait →
 * the rest keeps a fifth
 */
export const URGENT_PER_OTHER = 4;

/** How a request selects devices by tags, and what an unknown tag means for each selector. */
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

export const bySelector = <T>(of: (selector: Selector) => T): Readonly<Record<Selector, T>> =>
  Object.fromEntries(SELECTOR_NAMES.map((name) => [name, of(name)])) as Record<Selector, T>;

/** Ids are distinct. */
type TagLists = Readonly<Record<(typeof SELECTORS)[Selector]['list'], readonly number[]>>;

/** The target devices have any of the first tags, all of the second, none of the third. */
export interface Audience extends TagLists {
  /** An expression that three lists cannot state. Its live tags are in `anyTagIds` too. */
  readonly condition?: AudienceCondition | null;
  /** The ids in `condition` that are values of attributes. Absent: none. */
  readonly facetIds?: readonly number[];
  /** `condition` asks for days or numbers, which only rows know. Absent: it does not. */
  readonly asksRows?: true;
  /** Devices with any tag are meant as those with a target are. Absent: they are not. */
  readonly isToEverybody?: boolean | null;
  /** Its devices are named one by one, whatever tags they have. Absent: by their tags. */
  readonly isNamed?: true;
}

export const audienceOf = (tagIdsOf: (selector: Selector) => readonly number[]): TagLists =>
  Object.fromEntries(
    SELECTOR_NAMES.map((name) => [SELECTORS[name].list, tagIdsOf(name)]),
  ) as TagLists;

export interface NotificationScope extends Scope {
  readonly notificationId: string;
}

export const notificationScopeKeyOf = (scope: NotificationScope): string =>
  `${scope.notificationId}.${scopeKeyOf(scope)}`;

export const APNS_PUSH_TYPES = [
  'alert',
  'background',
  'voip',
  'complication',
  'location',
  'pushtotalk',
] as const;
export type ApnsPushType = (typeof APNS_PUSH_TYPES)[number];

/** The validated payload (internals/interface.md, "Payload"). Unknown fields are in `data`. */
export interface Payload extends Readonly<Omit<z.infer<typeof payloadFields>, 'ttl' | 'data'>> {
  readonly ttlSeconds?: number;
  readonly data: Readonly<Record<string, unknown>>;
  /** The operator's word for where `present` has none. Absent: it is replaceable. */
  readonly replaceableDefault?: false;
  /**
   * For devices with these tags; of several, the first counts. Or for devices with these languages
   * as their attribute. Absent: the same for all.
   */
  readonly languages?: readonly LanguagePayload[];
}

export type LanguagePayload = LanguageOfTag | LanguageOfAttribute;

interface LanguageOfTag {
  readonly tagSourceId: string;
  /** Absent: the tag is not looked up yet. */
  readonly tagId?: number;
  readonly payload: Payload;
}

interface LanguageOfAttribute {
  /** In the form in which the attribute is kept. */
  readonly language: string;
  /** The values that it is the longest prefix of, at a claim. Absent: not looked up. */
  readonly facetIds?: readonly number[];
  readonly payload: Payload;
}

/** Whether the attribute of a device says in which language it gets the payload. */
export const isInLanguagesOfAttribute = ({ languages = [] }: Payload): boolean =>
  languages.some((one) => 'language' in one);

/** Names it as publishers do. */
export const nameOfLanguage = (one: LanguagePayload): string =>
  'language' in one ? one.language : one.tagSourceId;

/** The payloads of a push by its templates or in its languages, made when it was accepted. */
export interface TemplatedPayload {
  readonly given: JsonObject;
  /** Keyed by scope. A scope without a template is not among them. */
  readonly payloads: Readonly<Record<string, Payload>>;
}

/** The deed of a job that follows an earlier one (decision 77). */
export type Correction = 'correct' | 'retract';

export interface Message {
  readonly notificationId: string;
  readonly payload: Payload;
  /** The notification's own end, or null. */
  readonly expiresAtMs: number | null;
  /** The planned time of the send, not before its acceptance: a payload's ttl counts from here. */
  readonly dueAtMs: number;
  /** The id that stands for the job in the identity of its alerts. Absent: its own. */
  readonly chain?: string;
  /** The job that was sent first, whose message it corrects or takes back. Absent: none. */
  readonly replaces?: string;
  readonly retracts?: string;
}

/**
 * Sends to all devices of a scope; total = the sum of the five, and of devices that were left out,
 * once the notification is final.
 */
export interface Counts {
  readonly total: number;
  readonly delivered: number;
  readonly failed: number;
  readonly skipped: number;
  readonly expired: number;
  readonly cancelled: number;
}

/** The total has those, too, who were left out by a policy. */
export interface ShownCounts extends Counts {
  readonly withheld: number;
}
