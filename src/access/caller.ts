/** The caller of a request, as described by its checked credential. */

/** The scopes that a further key may have. */
export const KEY_SCOPES = ['send', 'read', 'admin'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** The rights of a further key. Null: no limit. */
export interface KeyRights {
  readonly id: number;
  readonly scopes: readonly KeyScope[];
  /**
   * With `groupIds`: the tags that it may send to. All tags of its groups, and of the groups below
   * them, are among them.
   */
  readonly tagIds: readonly number[] | null;
  readonly groupIds: readonly number[] | null;
  readonly appIds: readonly number[] | null;
  /** The most devices that a push may address. */
  readonly maxDevices: number | null;
}

export interface Caller {
  /**
   * An API user belongs to one app and uses the App API; super users and keys belong to one client
   * and use the others.
   */
  readonly role: 'api-user' | 'super-user' | 'key';
  readonly clientId: number;
  readonly clientSlug: string;
  /** The app of an API user; null for the others. */
  readonly appId: number | null;
  readonly userName: string;
  /** Basic is deprecated: answers on the Notification and Admin API say so. */
  readonly method: 'bearer' | 'basic';
  /** For keys only. */
  readonly key?: KeyRights;
}
