/** The limits of one client: an operator may set each; honest use does not reach the defaults. */

import { TAGS_PER_CLIENT_MAX } from './tag.ts';

/** The requests that are counted a second, on each node; pushes are requests too. */
export type RateKind = 'requests' | 'pushes' | 'registrations' | 'reads';

/**
 * More than a machine with two cores answers: they stop loops that went wrong. A credential has
 * half, so that one that leaks leaves the rest.
 */
export const CLIENT_LIMIT_DEFAULTS = {
  requestsPerSecond: 20_000,
  credentialRequestsPerSecond: 10_000,
  pushesPerSecond: 10_000,
  credentialPushesPerSecond: 5_000,
  /** Many devices come back at once after a large push: twice what one address may register. */
  registrationsPerSecond: 200_000,
  credentialRegistrationsPerSecond: 100_000,
  readsPerSecond: 200_000,
  credentialReadsPerSecond: 100_000,
  /** Ten apps with as many as an app may have on a platform. */
  devices: 1_000_000_000,
  tags: TAGS_PER_CLIENT_MAX,
  /** Every change of a group reads the whole tree. */
  tagGroups: 100_000,
  /** Each is a row for each of its platforms in every push job of the client. */
  apps: 1_000,
  keys: 1_000,
  webhooks: 20,
  /** Counting them takes tenths of a second. At 300 pushes a second, they are those of an hour. */
  openJobs: 1_000_000,
};

export type ClientLimitName = keyof typeof CLIENT_LIMIT_DEFAULTS;
export const CLIENT_LIMIT_NAMES = Object.keys(CLIENT_LIMIT_DEFAULTS) as readonly ClientLimitName[];

export type ClientLimits = { readonly [Name in ClientLimitName]?: number | undefined };

/** The largest integer of PostgreSQL: what no limit is for. */
const ANY_MAX = 2_147_483_647;
/** More of these would not fit into what is read as a whole: caches, trees, rows of a push job. */
const MAXIMA: ClientLimits = {
  tags: TAGS_PER_CLIENT_MAX,
  tagGroups: 100_000,
  apps: 10_000,
  keys: 10_000,
  webhooks: 1_000,
};

/** The most that an operator may set a limit to. */
export const clientLimitMax = (name: ClientLimitName): number => MAXIMA[name] ?? ANY_MAX;

/** The least: a rate of none would be a client that is disabled. */
export const clientLimitMin = (name: ClientLimitName): number => (isRate(name) ? 1 : 0);

export const limitOf = (own: ClientLimits | undefined, name: ClientLimitName): number =>
  own?.[name] ?? CLIENT_LIMIT_DEFAULTS[name];

/** The thing that each limit bounds, in words for people. */
export const CLIENT_LIMIT_MEANINGS: Readonly<Record<ClientLimitName, string>> = {
  requestsPerSecond: 'requests of all its publishers in a second, on each node',
  credentialRequestsPerSecond:
    'requests with one credential of a publisher in a second, on each node',
  pushesPerSecond: 'pushes of all its publishers in a second, on each node',
  credentialPushesPerSecond: 'pushes with one credential of a publisher in a second, on each node',
  registrationsPerSecond: 'registrations for all its apps in a second, on each node',
  credentialRegistrationsPerSecond: 'registrations for one app in a second, on each node',
  readsPerSecond: 'list and tags requests of all its apps in a second, on each node',
  credentialReadsPerSecond: 'list and tags requests of one app in a second, on each node',
  devices: 'devices of all its apps',
  tags: 'tags',
  tagGroups: 'tag groups',
  apps: 'apps',
  keys: 'further keys',
  webhooks: 'webhooks',
  openJobs: 'push jobs that have not ended',
};

export interface OverLimit {
  readonly name: ClientLimitName;
  readonly max: number;
  /** The number that the client has; null: a rate, or not known. */
  readonly current: number | null;
}

/** The limit that a client exceeds with `added` more; null: none. */
export function overLimit(
  own: ClientLimits,
  name: ClientLimitName,
  current: number,
  added = 1,
): OverLimit | null {
  const max = limitOf(own, name);
  return current + added > max ? { name, max, current } : null;
}

export function overLimitSentence({ name, max, current }: OverLimit): string {
  const has = current === null ? '' : `, and it has ${current}`;
  const remedies = [
    ...(current === null ? [] : [REMEDIES[name] ?? 'Delete some.']),
    ...(max < clientLimitMax(name) ? ['The operator of this service can change the limit.'] : []),
  ];
  const what = `${max} ${CLIENT_LIMIT_MEANINGS[name]}`;
  return [`This client may have ${what}${has}: its limit ${name}.`, ...remedies].join(' ');
}

const REMEDIES: { readonly [Name in ClientLimitName]?: string } = {
  openJobs: 'Cancel some, or wait until some have ended.',
};

const isRate = (name: ClientLimitName): boolean => name.endsWith('PerSecond');
