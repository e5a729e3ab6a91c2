/** The caller of a request, as described by its checked credential or session. */

import type { ClientLimits } from './client-limits.ts';

/** The scopes that a further key may have. */
export const KEY_SCOPES = ['send', 'read', 'admin', 'personal', 'override'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** The rights of a further key, or of a member who is no owner. Null: no limit. */
export interface KeyRights {
  /** Null: a member's role, no key. */
  readonly id: number | null;
  readonly scopes: readonly KeyScope[];
  /** With `groupIds`: the tags that it may send to, those of its groups included. */
  readonly tagIds: readonly number[] | null;
  readonly groupIds: readonly number[] | null;
  /** Without those that were deleted, so perhaps none. */
  readonly appIds: readonly number[] | null;
  /** The most devices that a push may address. */
  readonly maxDevices: number | null;
}

export const MEMBER_ROLES = ['owner', 'publisher', 'viewer'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

interface CallingAccount {
  readonly id: number;
  readonly email: string;
  readonly role: MemberRole;
}

export interface Caller {
  /** An owner calls as a super user, other members as keys with the scopes of their roles. */
  readonly role: 'api-user' | 'super-user' | 'key';
  readonly clientId: number;
  readonly clientSlug: string;
  /** Null for the others. */
  readonly appId: number | null;
  /** For an account its e-mail address. */
  readonly userName: string;
  /** A credential that was rotated and still works, for less. Absent: it is in force. */
  readonly isInGrace?: true;
  /** Basic is deprecated: answers on the Notification and Admin API say so. */
  readonly method: 'bearer' | 'basic' | 'session';
  readonly key?: KeyRights;
  readonly account?: CallingAccount;
  readonly limits?: ClientLimits;
  /** Its client has policies, to which its pushes are held. */
  readonly hasPolicies?: true;
}

/** Whether the audience of a key must have some of its tags. */
export const limitsTags = (key: KeyRights): boolean => key.tagIds !== null || key.groupIds !== null;

export const isForTags = ({ key }: Caller): boolean => key !== undefined && limitsTags(key);

/** Whether a caller may address only a part of the audience. It then sees only its own jobs. */
export const isLimited = ({ key }: Caller): boolean =>
  key !== undefined && (limitsTags(key) || key.appIds !== null);

/** Whether the caller may know the personal values of a device: no key may. */
export const seesPersonal = ({ role }: Caller): boolean => role === 'super-user';

export const coversApp = ({ key }: Caller, appId: number): boolean =>
  key?.appIds?.includes(appId) ?? true;

/** The publisher whose jobs the caller sees and controls; null: all of its client. */
export const publisherOf = (caller: Caller): string | null =>
  isLimited(caller) ? caller.userName : null;
