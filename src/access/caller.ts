/** Who calls: what a checked credential says about a request. */

/** What a further key may be made for. */
export const SCOPES = ['send', 'read', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** What a further key may do. Null: no limit. */
export interface KeyRights {
  readonly id: number;
  readonly scopes: readonly Scope[];
  /**
   * With `groupIds`: the tags that it may send to; those of its groups, and of the groups below,
   * are among them.
   */
  readonly tagIds: readonly number[] | null;
  readonly groupIds: readonly number[] | null;
  readonly appIds: readonly number[] | null;
  /** That a push may address. */
  readonly maxDevices: number | null;
}

export interface Caller {
  /**
   * An API user belongs to one app and speaks the App API; super users and keys belong to one
   * client and speak the rest.
   */
  readonly role: 'api-user' | 'super-user' | 'key';
  readonly clientId: number;
  readonly clientSlug: string;
  /** The app of an API user; null for the others. */
  readonly appId: number | null;
  readonly userName: string;
  /** Basic is deprecated: answers on the Notification and Admin API say so. */
  readonly method: 'bearer' | 'basic';
  /** Of a key only. */
  readonly key?: KeyRights;
}
