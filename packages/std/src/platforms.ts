/**
 * The platforms that apps run on. Operators name one by its number, by its word (`ios`), or by its
 * provider (`apns`): on the command line, in files of devices, in the kind of a credential.
 */

const TABLE = {
  /** Through APNs. */
  apns: { id: 3, label: 'iOS' },
  /** Browsers, through their makers' push services (RFC 8030) or, by FCM tokens, through FCM. */
  webpush: { id: 7, label: 'Web' },
  /** Through FCM HTTP v1. */
  fcm: { id: 15, label: 'Android' },
} as const;

type PlatformName = keyof typeof TABLE;
export type PlatformId = (typeof TABLE)[PlatformName]['id'];

/** The ids. One is for ever: rows, addresses and apps have it. */
export const PLATFORMS = Object.fromEntries(
  Object.entries(TABLE).map(([name, { id }]) => [name, id]),
) as { readonly [Name in PlatformName]: (typeof TABLE)[Name]['id'] };

/** Their names for people, by their ids. */
export const PLATFORM_LABELS: ReadonlyMap<number, string> = new Map(
  Object.values(TABLE).map(({ id, label }) => [id, label]),
);

/** Their words: `ios`, `web`, `android`. */
export const PLATFORM_WORDS: readonly string[] = Object.values(TABLE).map(({ label }) =>
  label.toLowerCase(),
);

/** All of them, for people: `3 (iOS), 7 (Web) or 15 (Android)`. */
export const PLATFORM_CHOICE = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(
  [...PLATFORM_LABELS].map(([id, label]) => `${id} (${label})`),
);

const BY_NAME: ReadonlyMap<string, PlatformId> = new Map(
  Object.entries(TABLE).flatMap(([name, { id, label }]) =>
    [name, label.toLowerCase(), String(id)].map((text) => [text, id] as const),
  ),
);

/** The platform that a text names: by its number, its word or its provider. Null: none. */
export const platformNamed = (text: string): PlatformId | null =>
  BY_NAME.get(text.toLowerCase()) ?? null;
