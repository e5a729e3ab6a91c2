/**
 * The setting of a guide's reader before the first line: an engine, tokens in the environment, a
 * registered device; and checks of effects that no line of the page shows.
 */

import type { Test } from 'tap';
import type { ProviderAccounts } from '../../../packages/simulator/src/accounts.ts';
import { post } from '../client.ts';
import type { Demo, EngineProcess } from '../processes.ts';
import type { LossyProxy } from './lossy-proxy.ts';
import { startLossyProxy } from './lossy-proxy.ts';

export interface Reader {
  readonly environment: Readonly<Record<string, string>>;
  /** In the folder of the reader. */
  readonly files: Readonly<Record<string, string>>;
  /** Looks at what the page has done. */
  check(t: Test): Promise<void>;
}

/** Pages that set the variables themselves, from the folder of the engine. */
const FROM_THE_FOLDER = ['index', 'quick-start'];
/** Pages whose requests meet a bad day, and how many notifications they send through it. */
const ON_A_BAD_DAY: Readonly<Record<string, number>> = { sending: 1, publishers: 8 };
/** A refusal, a lost answer, an answer. */
const ATTEMPTS = 3;

export async function prepare(
  t: Test,
  page: string,
  { dataDir, baseUrl }: EngineProcess,
  demo: Demo,
): Promise<Reader> {
  const environment: Record<string, string> = { DATA_DIR: dataDir };
  if (FROM_THE_FOLDER.includes(page)) return { environment, files: {}, check: nothingMore };
  Object.assign(environment, variablesOf(demo));
  const { appId, apiUser } = demo;
  const device = { appId, platformId: 3, deviceId: DEVICE, tagSourceId: ['breaking-news'] };
  t.equal((await post(`${baseUrl}/push-api/reg`, apiUser.token, device)).status, 200);
  if (page === 'first-send') return withAccounts(environment, demo);
  const keys = ON_A_BAD_DAY[page];
  if (keys === undefined) return { environment, files: {}, check: nothingMore };
  const proxy = await startLossyProxy(t, baseUrl);
  return {
    environment: { ...environment, TAGCAST_URL: proxy.url },
    files: {},
    check: (t) => checkSentOnce(t, proxy, keys),
  };
}

/** With what Apple and Google have given: the accounts of the simulator. */
async function withAccounts(
  environment: Readonly<Record<string, string>>,
  { simulator }: Demo,
): Promise<Reader> {
  const answer = await fetch(`${simulator.controlUrl}/accounts`);
  const [account] = (await answer.json()) as readonly ProviderAccounts[];
  if (account === undefined) throw new Error('the simulator has no accounts');
  const { teamId, keyId, bundleId, privateKey } = account.apns;
  const { token_uri: _, ...serviceAccount } = account.fcm.serviceAccount;
  const own = { TEAM_ID: teamId, KEY_ID: keyId, BUNDLE_ID: bundleId, DEVICE_TOKEN: DEVICE };
  return {
    environment: { ...environment, ...own },
    files: {
      'AuthKey.p8': privateKey,
      'service-account.json': JSON.stringify(serviceAccount),
    },
    check: nothingMore,
  };
}

const DEVICE = 'ef'.repeat(32);
const nothingMore = (): Promise<void> => Promise.resolve();

function checkSentOnce(t: Test, { byKey }: LossyProxy, keys: number): Promise<void> {
  t.equal(byKey.size, keys, 'each notification has a key of its own');
  for (const { attempts, answers } of byKey.values()) {
    t.equal(attempts, ATTEMPTS, 'it is sent again after 503, and after a lost answer');
    t.match(answers[0], /^[0-9a-f-]{36}$/);
    t.equal(new Set(answers).size, 1, 'and is one job all the same');
  }
  return Promise.resolve();
}

/** Variables under the names in the index of the guides. */
export const variablesOf = ({ baseUrl, appId, apiUser, superUser }: Demo) => ({
  TAGCAST_URL: baseUrl,
  APP_ID: String(appId),
  API_USER_TOKEN: apiUser.token,
  SUPER_USER_TOKEN: superUser.token,
});
