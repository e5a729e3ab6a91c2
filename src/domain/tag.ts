/** Tags, tag groups and their limits (internals/interface.md). */

export interface Tag {
  readonly id: number;
  readonly clientId: number;
  readonly name: string;
  readonly sourceId: string | null;
  readonly groupId: number | null;
  readonly optionalParameters: Readonly<Record<string, string>> | null;
  readonly expiresAtMs: number | null;
  /** The apps it is connected to; null: every app of its client. */
  readonly appIds: readonly number[] | null;
}

/** A tag in a catalogue. Its optional parameters are read when they are shown. */
export type CatalogueTag = Omit<Tag, 'optionalParameters'>;

export interface TagGroup {
  readonly id: number;
  readonly clientId: number;
  readonly name: string;
  readonly sourceId: string | null;
  readonly parentId: number | null;
}

/**
 * @publisherLimit tags in a request, and groups of a `tag/add`; tags, groups or apps that a key is
 * limited to, of each → App API: nothing is done, `Tagcast-Ignored`; push (target, filter and
 * exclude together, or an expression) and Admin API: `400`
 */
export const TAGS_PER_REQUEST_MAX = 1_000;
export const TAGS_PER_CLIENT_MAX = 100_000;
/**
 * @publisherLimit name of a tag, group or app: 1 character or more, no control characters; at most
 * → `400`
 */
export const TAG_NAME_LENGTH_MAX = 255;
/** @publisherLimit sourceId: 1 character or more; at most → `400` */
export const SOURCE_ID_LENGTH_MAX = 255;
/** @publisherLimit optional parameters of a tag → `400` */
export const OPTIONAL_PARAMETERS_MAX = 50;
/** @publisherLimit each key and value of the optional parameters of a tag → `400` */
export const OPTIONAL_PARAMETER_LENGTH_MAX = 255;
/**
 * 335 octets for each tag, sent to every app that asks for its tags.
 * @limit optional parameters of all tags of a client → `400`
 */
export const OPTIONAL_PARAMETER_BYTES_PER_CLIENT_MAX = 32 * 1_048_576;
/** @publisherLimit depth of groups → `400` */
export const TAG_GROUP_DEPTH_MAX = 32;
/**
 * PostgreSQL integers.
 * @limit ids of tags, groups and apps, of all clients; a larger id names nothing → nothing can be
 * made
 */
export const ID_MAX = 2_147_483_647;

/** Whether it can be an id. No row has an id outside the range, and no integer of the database. */
export const isId = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= ID_MAX;

/** An expired tag addresses no device, and devices cannot subscribe to it. */
export const isExpired = (tag: CatalogueTag, nowMs: number): boolean =>
  tag.expiresAtMs !== null && tag.expiresAtMs <= nowMs;

export const isConnected = (tag: CatalogueTag, appId: number): boolean =>
  tag.appIds === null || tag.appIds.includes(appId);
