/**
 * The notification that is being composed: kept in this browser until it is sent, and saved among
 * the drafts of the client when somebody says so.
 */

import type { App, Notification, Tag, TagGroup } from '../../../packages/client/src/openapi.ts';
import { isObject } from '../../../packages/std/src/json.ts';
import { PLATFORMS } from '../../../packages/std/src/platforms.ts';
import type { MoreFields } from '../texts/payload-fields.ts';
import { moreOf } from '../texts/payload-fields.ts';

export type PickedGroup = Pick<TagGroup, 'id' | 'name'>;

/** The fields of a tag that its chip shows. */
export interface PickedTag extends Pick<Tag, 'id' | 'name' | 'sourceId'> {
  /** It was chosen with all tags of this group. */
  readonly group?: PickedGroup;
  /** It was deleted since it was chosen: somebody has to decide what is meant without it. */
  readonly isGone?: true;
}

export type PickedApp = Pick<App, 'id' | 'name'>;

/**
 * The texts for people with one of the tags, or whose device is in the language; an empty one stands
 * in the default language.
 */
export interface LanguageText {
  /** `de`. */
  language: string;
  tags: PickedTag[];
  title: string;
  message: string;
  url: string;
  image: string;
}

/** A field of the payload that a template reads. */
export interface TemplateField {
  name: string;
  value: string;
}

export interface DraftFields extends MoreFields {
  any: PickedTag[];
  all: PickedTag[];
  none: PickedTag[];
  isExpression: boolean;
  expression: string;
  /** Only these; none: every app. */
  apps: PickedApp[];
  /** Only these; none: every platform. */
  platformIds: number[];
  title: string;
  message: string;
  url: string;
  image: string;
  /** The language of a person is that of a tag, or of the device by its attribute. */
  languageBy: 'tags' | 'device';
  /** The language of the texts above; '' as long as there are no others. */
  defaultLanguage: string;
  /** A person with tags of several gets the first. */
  languages: LanguageText[];
  templateFields: TemplateField[];
  data: string;
  isSilent: boolean;
  when: 'now' | 'later' | 'local';
  /** The value of the input, in the viewer's zone; at local time on the clocks of the devices. */
  sendAt: string;
  /** At local time: at once to devices whose time has passed. */
  isLateSent: boolean;
  expiresMinutes: number;
  ratePerSecond: number | null;
  isUrgent: boolean;
  /** It goes to a hundredth first, and to the rest when somebody says so. */
  isStaged: boolean;
  /** The category whose limits it is held to; '': the default one. */
  category: string;
  /** Devices that have had as many as a limit allows get it too. */
  ignoresCaps: boolean;
}

/** The draft of the client that it is, as it was saved last. */
export interface SavedDraft {
  readonly id: number;
  readonly revision: number;
  readonly name: string;
  readonly userName: string;
  readonly updatedAt: number;
  /** Its fields then, as JSON. */
  readonly text: string;
}

/** The scheduled notification that is being edited: it stays as it is until the draft is saved. */
export interface EditedNotification {
  readonly id: string;
  readonly title: string;
  /** Its fields as they were when the edit began, as JSON. */
  readonly text: string;
  readonly delivery: 'at-least-once' | 'at-most-once';
  readonly schedule: EditedSchedule;
  /** Makes the idempotency key of what is saved: the same again is answered, and not done twice. */
  readonly key: string;
}

/** When and how a notification was to be sent, to the millisecond and the device. */
export interface EditedSchedule {
  readonly sendAt: number;
  readonly expiresAt: number | null;
  readonly ratePerSecond: number | null;
  readonly priority: 'normal' | 'urgent';
  readonly pauseAfter: number | null;
}

const EMPTY: DraftFields = {
  any: [],
  all: [],
  none: [],
  isExpression: false,
  expression: '',
  apps: [],
  platformIds: [],
  title: '',
  message: '',
  url: '',
  image: '',
  languageBy: 'tags',
  defaultLanguage: '',
  languages: [],
  templateFields: [],
  ...moreOf({}),
  data: '',
  isSilent: false,
  when: 'now',
  sendAt: '',
  isLateSent: false,
  expiresMinutes: 0,
  ratePerSecond: null,
  isUrgent: false,
  isStaged: false,
  category: '',
  ignoresCaps: false,
};
const EMPTY_TEXT = JSON.stringify(EMPTY);

const PREFIX = 'tagcast-draft-';
const keyOf = (clientId: string): string => PREFIX + clientId;
/** No id of a client has a colon. */
const savedKeyOf = (clientId: string): string => `${keyOf(clientId)}:saved`;
const sentKeyOf = (clientId: string): string => `${keyOf(clientId)}:sent`;
const editedKeyOf = (clientId: string): string => `${keyOf(clientId)}:edited`;
const hastenedKeyOf = (clientId: string): string => `${keyOf(clientId)}:hastened`;

export class Draft {
  fields = $state<DraftFields>({ ...EMPTY });
  /** Null: it is none of the saved ones yet. */
  saved = $state.raw<SavedDraft | null>(null);
  /** Null: it is a new notification. */
  edited = $state.raw<EditedNotification | null>(null);
  readonly #clientId: string;

  constructor(clientId: string) {
    this.#clientId = clientId;
    const { fields, saved, edited } = keptDraft(clientId);
    this.fields = fields;
    this.saved = saved;
    this.edited = edited;
  }

  get isEmpty(): boolean {
    return JSON.stringify(this.fields) === EMPTY_TEXT;
  }

  /** Whether something of it would be lost with this browser. */
  get isUnsaved(): boolean {
    return isUnsaved(this.fields, this.saved);
  }

  /** Called whenever a field has changed. */
  keep(): void {
    keepDraft(this.#clientId, this.fields, this.saved, this.edited);
  }

  open(fields: Partial<DraftFields>, saved: SavedDraft | null): void {
    this.fields = { ...EMPTY, ...fields };
    this.saved = saved;
    this.edited = null;
  }

  /** It was sent as this notification: begins another, and remembers it for an undo. */
  wasSent(notificationId: string): void {
    const sent = { notificationId, fields: this.fields };
    localStorage.setItem(sentKeyOf(this.#clientId), JSON.stringify(sent));
    this.open({}, null);
  }
}

/** The draft that this browser keeps. One of an earlier version may lack fields. */
export function keptDraft(clientId: string): {
  readonly fields: DraftFields;
  readonly saved: SavedDraft | null;
  readonly edited: EditedNotification | null;
} {
  const kept = localStorage.getItem(keyOf(clientId));
  const saved = localStorage.getItem(savedKeyOf(clientId));
  const edited = localStorage.getItem(editedKeyOf(clientId));
  return {
    fields: { ...EMPTY, ...(kept === null ? {} : JSON.parse(kept)) },
    saved: saved === null ? null : JSON.parse(saved),
    edited: edited === null ? null : JSON.parse(edited),
  };
}

/**
 * The fields in the content of a saved draft, which any key may have written. Null: it has a field
 * that is none of ours by its type. What it has besides is left out.
 */
export function fieldsIn(content: Readonly<Record<string, unknown>>): DraftFields | null {
  const given = Object.entries(content).filter(([name]) => Object.hasOwn(EMPTY, name));
  if (!given.every(([name, value]) => hasType(name as keyof DraftFields, value))) return null;
  return { ...EMPTY, ...(Object.fromEntries(given) as Partial<DraftFields>) };
}

function hasType(name: keyof DraftFields, value: unknown): boolean {
  const empty = EMPTY[name];
  if (name === 'languages') return isListOf(value, isLanguageText);
  if (name === 'templateFields') return isListOf(value, isTemplateField);
  if (name === 'platformIds') return isListOf(value, isPlatformId);
  if (Array.isArray(empty)) return isListOf(value, isPicked);
  if (name === 'languageBy') return value === 'tags' || value === 'device';
  if (name === 'when') return value === 'now' || value === 'later' || value === 'local';
  if (empty === null) return value === null || typeof value === 'number';
  return typeof value === typeof empty;
}

const isListOf = (value: unknown, isOne: (one: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(isOne);

const isPlatformId = (id: unknown): boolean =>
  (Object.values(PLATFORMS) as readonly unknown[]).includes(id);

const isTemplateField = (one: unknown): boolean =>
  isObject(one) && typeof one['name'] === 'string' && typeof one['value'] === 'string';

const isLanguageText = (one: unknown): boolean =>
  isObject(one) &&
  isListOf(one['tags'], isPicked) &&
  ['language', 'title', 'message', 'url', 'image'].every((name) => typeof one[name] === 'string');

/** A tag, with its group if it was chosen with it, or an app. */
const isPicked = (one: unknown): boolean =>
  isObject(one) &&
  Number.isInteger(one['id']) &&
  typeof one['name'] === 'string' &&
  (one['group'] === undefined || isPicked(one['group']));

/** Keeps fields in this browser, to go on with: nothing else is kept any more. */
export function keepDraft(
  clientId: string,
  fields: Partial<DraftFields>,
  saved: SavedDraft | null = null,
  edited: EditedNotification | null = null,
): void {
  localStorage.setItem(keyOf(clientId), textOf(fields));
  keepOrForget(savedKeyOf(clientId), saved);
  keepOrForget(editedKeyOf(clientId), edited);
}

/** All fields of a draft, as JSON. */
export const textOf = (fields: Partial<DraftFields>): string =>
  JSON.stringify({ ...EMPTY, ...fields });

function keepOrForget(key: string, value: object | null): void {
  if (value === null) localStorage.removeItem(key);
  else localStorage.setItem(key, JSON.stringify(value));
}

/** Whether the fields are worth keeping, and no saved draft has them. */
export function isUnsaved(fields: DraftFields, saved: SavedDraft | null): boolean {
  const text = JSON.stringify(fields);
  return text !== EMPTY_TEXT && text !== saved?.text;
}

/** The fields that this browser sent as this notification; null: it was another. */
export function sentFields(clientId: string, notificationId: string): DraftFields | null {
  const kept = localStorage.getItem(sentKeyOf(clientId));
  if (kept === null) return null;
  const sent = JSON.parse(kept) as { notificationId: string; fields: DraftFields };
  return sent.notificationId === notificationId ? sent.fields : null;
}

interface Hastened {
  readonly notificationId: string;
  /** When it was to be sent before. */
  readonly before: number;
  /** Until when the engine holds it. */
  readonly heldUntil: number;
}

/** Remembers when a notification was to be sent that goes out in some seconds: for an undo. */
export function wasHastened(clientId: string, hastened: Hastened): void {
  localStorage.setItem(hastenedKeyOf(clientId), JSON.stringify(hastened));
}

/**
 * When it was to be sent before this browser sent it now. Null: it did not, somebody has changed the
 * time since, or that time has passed.
 */
export function hastenedFrom(
  clientId: string,
  { id, sendAt }: Pick<Notification, 'id' | 'sendAt'>,
): number | null {
  const kept = localStorage.getItem(hastenedKeyOf(clientId));
  if (kept === null) return null;
  const { notificationId, before, heldUntil } = JSON.parse(kept) as Hastened;
  const isIt = notificationId === id && heldUntil === sendAt && before > Date.now();
  return isIt ? before : null;
}

/** Forgets all drafts of this browser: the next person to sign in may be another one. */
export function forgetDrafts(): void {
  for (const key of Object.keys(localStorage)) {
    if (key.startsWith(PREFIX)) localStorage.removeItem(key);
  }
}
