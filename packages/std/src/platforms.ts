/**
 * The platforms that apps run on, by the names that operators give them: on the command line, in
 * files of devices, in the kind of a credential.
 */

const TABLE = {
  /** Through APNs. */
  apns: { id: 3, label: 'iOS' },
  /** Browsers, through their makers' push services (RFC 8030) or, by FCM tokens, through FCM. */
  webpush: { id: 7, label: 'Web' },
  /** Through FCM HTTP v1. */
  fcm: { id: 15, label: 'Android' },
} as const;

export type PlatformName = keyof typeof TABLE;
export type PlatformId = (typeof TABLE)[PlatformName]['id'];

/** The ids. One is for ever: rows, addresses and apps have it. */
export const PLATFORMS = Object.fromEntries(
  Object.entries(TABLE).map(([name, { id }]) => [name, id]),
) as { readonly [Name in PlatformName]: (typeof TABLE)[Name]['id'] };

/** Their names for people, by their ids. */
export const PLATFORM_LABELS: ReadonlyMap<number, string> = new Map(
  Object.values(TABLE).map(({ id, label }) => [id, label]),
);
