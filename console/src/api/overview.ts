/** Reads the overview in few requests. */

import type { AnswerOf } from '../../../packages/client/src/client.ts';
import type {
  App,
  ListedNotification,
  Notification,
  ProviderCredential,
} from '../../../packages/client/src/openapi.ts';
import { DAY_MS } from '../words/format.ts';
import type { ClientApi } from './client.ts';

export type AppStatistics = AnswerOf<'GET', '/push-admin-api/v3/{client}/stats/app/{app}'>['body'];

export interface Reached {
  readonly app: App;
  readonly platformId: number;
  readonly devices: number;
  /** Null: this role may not see it. */
  readonly credential: ProviderCredential | null;
}

export interface Overview {
  readonly apps: readonly App[];
  /** The newest, or one that is being sent. */
  readonly latest: Notification | null;
  readonly reached: readonly Reached[];
  readonly days: readonly {
    readonly date: string;
    readonly delivered: number;
    readonly failed: number;
  }[];
}

/** Apps whose figures are added up: more would be too many requests for a page. */
export const APPS_SHOWN_MAX = 20;
/** Notifications among which one that is being sent is looked for. */
const NEWEST = 20;
export const DAYS = 14;

export async function readOverview(api: ClientApi, signal: AbortSignal): Promise<Overview> {
  const [{ body: apps }, { body: newest }] = await Promise.all([
    api.request('GET', '/push-admin-api/v3/{client}/apps', { signal }),
    api.request('GET', '/push-api/v3/{client}/notifications', { query: { limit: NEWEST }, signal }),
  ]);
  const shown = apps.slice(0, APPS_SHOWN_MAX);
  const chosen = running(newest) ?? newest[0];
  const [latest, statistics, credentials] = await Promise.all([
    chosen === undefined
      ? null
      : api.request('GET', '/push-api/v3/{client}/notifications/{id}', {
          path: { id: chosen.id },
          signal,
        }),
    inTurn(shown, (app) =>
      api.request('GET', '/push-admin-api/v3/{client}/stats/app/{app}', {
        path: { app: app.id },
        signal,
      }),
    ),
    Promise.all(shown.map((app) => credentialsOf(api, app, signal))),
  ]);
  return {
    apps,
    latest: latest?.body ?? null,
    reached: shown.flatMap((app, index) =>
      app.platformIds.map((platformId) => ({
        app,
        platformId,
        devices: countOf(statistics[index]?.body, platformId),
        credential: credentials[index]?.get(platformId) ?? null,
      })),
    ),
    days: sumDays(statistics.map(({ body }) => body)),
  };
}

const running = (newest: readonly ListedNotification[]): ListedNotification | undefined =>
  newest.find(({ state }) => state === 'RUNNING') ?? newest.find(({ state }) => state === 'PAUSED');

const countOf = (statistics: AppStatistics | undefined, platformId: number): number =>
  statistics?.subscribersByApp.find((row) => row.platformId === platformId)?.count ?? 0;

/** Reads that may take long have two connections for a client: one by one, they do not fill them. */
async function inTurn<A, B>(
  all: readonly A[],
  read: (one: A) => Promise<B>,
): Promise<readonly B[]> {
  const answers: B[] = [];
  for (const one of all) answers.push(await read(one));
  return answers;
}

/** The state of each account at a provider; without those that this role may not see. */
export async function credentialsOf(
  api: ClientApi,
  app: App,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, ProviderCredential>> {
  const asked = await Promise.allSettled(
    app.platformIds.map((platform) =>
      api.request('GET', '/push-admin-api/v3/{client}/apps/{id}/platforms/{platform}', {
        path: { id: app.id, platform },
        signal,
      }),
    ),
  );
  const told = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value.body] : []));
  return new Map(told.map((one) => [one.platformId, one]));
}

/** The last days, those without a notification too. */
function sumDays(all: readonly AppStatistics[]): Overview['days'] {
  const today = Date.now();
  return Array.from({ length: DAYS }, (_, index) => {
    const date = new Date(today - (DAYS - 1 - index) * DAY_MS).toISOString().slice(0, 10);
    const rows = all.flatMap(({ daily }) => daily.filter((row) => row.date === date));
    return {
      date,
      delivered: rows.reduce((sum, row) => sum + row.delivered, 0),
      failed: rows.reduce((sum, row) => sum + row.failed, 0),
    };
  });
}
