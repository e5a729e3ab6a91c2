/**
 * The providers' worst days, all at once: 200,000 sends of a real engine on PostgreSQL through
 * the scenarios of the simulator. The simulator knows which answers the engine could not have
 * (decision 20), so everything here is exact.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import { SCENARIO_NAMES } from '../../packages/simulator/src/faults/scenarios.ts';
import type { BehaviourChange } from '../../packages/simulator/src/options.ts';
import type { ProviderState } from '../../packages/simulator/src/record/record.ts';
import type { PushSubscription } from '../../packages/simulator/src/webpush/push-subscriptions.ts';
import { connect } from '../../src/database/sql.ts';
import type { StatusRow } from '../support/client.ts';
import { finalStatus, push, sumCloses } from '../support/client.ts';
import type { EngineProcess } from '../support/processes.ts';
import { seedDevices } from '../support/seed.ts';
import { withPostgres } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import type { Scene } from './scene.ts';
import { setScene } from './scene.ts';

const APNS_DEVICES = 120_000;
const FCM_DEVICES = 70_000;
/** The most that the simulator makes in one request. */
const BROWSERS = 10_000;

/**
 * How the simulator and the status call a provider, how many of its devices there are, and why some
 * fail: their tokens are dead or refused.
 */
const PROVIDERS = [
  {
    name: 'apns',
    platformId: 3,
    devices: APNS_DEVICES,
    reasons: ['BadDeviceToken', 'Unregistered'],
  },
  {
    name: 'fcm',
    platformId: 15,
    devices: FCM_DEVICES,
    reasons: ['INVALID_ARGUMENT', 'UNREGISTERED'],
  },
  {
    name: 'webpush',
    platformId: 7,
    devices: BROWSERS,
    reasons: ['Unregistered', 'VapidPkHashMismatch'],
  },
] as const;

type Books = Readonly<Record<(typeof PROVIDERS)[number]['name'], ProviderState>>;

/**
 * So many requests to a connection: half as many ends as the scenarios have alone, some hundred in
 * all.
 */
const REQUESTS = 2_000;

/** All scenarios; what costs minutes of waiting alone is smaller, for here it comes together. */
const BEHAVIOUR: BehaviourChange = {
  // Under a wrong clock nothing is accepted, and who is refused by mistake may have it already.
  scenarios: SCENARIO_NAMES.filter((name) => !/^clock-|^odd-refusal$/.test(name)),
  // A 429 of APNs costs one minute, the next two, the third four; FCM's 502 half a minute.
  shares: { gone: 0.002, throttled: 0.000_5, badGateway: 0.005 },
  ends: {
    goAway: REQUESTS,
    goAwayTwice: REQUESTS,
    goAwayFalling: REQUESTS,
    goAwayUnprocessed: REQUESTS,
    goAwayCalm: REQUESTS,
    goAwayInternal: REQUESTS,
    cut: REQUESTS,
  },
  // After a minute the next attempt may be another away.
  outage: { afterMs: 8_000, closedMs: 8_000, unavailableMs: 8_000 },
  seed: 20_261,
};

/** Apple's quarter of an hour after a 5xx is no wait for a test. */
const ENVIRONMENT = { APNS_RETRY_MS: '1000', WORKERS: '2' };
const SEND_LIMIT_MS = 900_000;

/** Sends after which all connections, threads and pools of memory are there. */
const WARM_SENDS = 40_000;
/** The growth of the second half beyond the most of the first: collections come when they come. */
const GROWTH_MAX_MB = 100;
const SAMPLE_EVERY_MS = 500;

t.setTimeout(1_050_000);

t.test(
  '200,000 sends through all scenarios at once: each ends once, and all is accounted for',
  async (t) => {
    await withPostgres(t, async (t, url) => {
      const scene = await setScene(t, url, {
        simulatorFlags: [],
        apnsDevices: APNS_DEVICES,
        fcmDevices: FCM_DEVICES,
      });
      await addBrowsers(t, scene, url);
      const engine = await scene.start(ENVIRONMENT);
      await behave(scene, BEHAVIOUR);
      const job = await push(engine.baseUrl, scene.demo, [scene.tagId]);
      const memory = watchMemory(t, scene, engine);
      const rows = await finalStatus(engine.baseUrl, scene.demo, job, SEND_LIMIT_MS);
      const { firstMb, secondMb } = await memory.end();
      const books = await booksOf(scene);
      for (const provider of PROVIDERS) {
        const row = rows.find(({ key }) => key.platformId === provider.platformId);
        if (row === undefined) t.fail(`no row of ${provider.name}`);
        else
          await t.test(provider.name, (t) =>
            accountFor(t, scene, provider, row, books[provider.name]),
          );
      }
      t.ok(
        secondMb <= firstMb + GROWTH_MAX_MB,
        `memory is flat: ${firstMb} MB, then ${secondMb} MB`,
      );
    });
  },
);

/** Every device ended once, and what the engine counted is what the provider saw. */
async function accountFor(
  t: Test,
  scene: Scene,
  provider: (typeof PROVIDERS)[number],
  row: StatusRow,
  book: ProviderState,
): Promise<void> {
  t.equal(row.state, 'FINISHED');
  t.equal(row.totalCount, provider.devices);
  t.ok(sumCloses(row), 'the sums close');
  t.equal(row.skippedCount + row.expiredCount + row.cancelledCount, 0);

  // An accepted push was answered, which ended its device, or its answer was lost, which ended
  // nothing.
  t.equal(
    book.accepted - book.lostAnswers,
    row.successCount,
    'accepted = delivered + lost answers',
  );
  t.equal(book.notRecorded, 0);

  // Sent again only where the outcome could not be known, and then counted.
  const uncertain = row.uncertainCount ?? 0;
  t.equal(book.unexplainedDuplicates, 0);
  t.ok(book.lostAnswers > 0, 'answers were lost');
  t.ok(book.duplicates > 0 && book.duplicates <= book.lostAnswers, `${book.duplicates} duplicates`);
  t.ok(
    book.lostAnswers + (book.rejected['Unanswered'] ?? 0) <= uncertain,
    `${uncertain} uncertain`,
  );

  // No device was missed: only those that the provider never took have failed.
  t.equal(book.tokens, provider.devices, 'every device was tried');
  const refused = await refusedTokens(scene, provider.name);
  t.equal(refused, row.failedCount, 'failed are those that were never accepted');
  t.same(Object.keys(row.failureReasons ?? {}).sort(), provider.reasons);
}

/** A second app, of browsers: its credential, and devices that the simulator can read for. */
async function addBrowsers(
  t: Test,
  { simulator, demo, tagId, command }: Scene,
  url: string,
): Promise<void> {
  const added = await command(['app', 'add', demo.clientId, 'Web', '--platform', '7']);
  const appId = Number(/App (\d+)/.exec(added)?.[1]);
  const vapidFile = join(temporaryDirectory(t), 'vapid.json');
  const vapid = await command(['app', 'vapid']);
  writeFileSync(vapidFile, vapid);
  await command([
    ...['app', 'credentials', String(appId), 'webpush', '--vapid-file', vapidFile],
    ...['--subject', 'mailto:push@example.com'],
  ]);
  const { publicKey } = JSON.parse(vapid) as { readonly publicKey: string };
  const made = await fetch(`${simulator.controlUrl}/webpush/subscriptions`, {
    method: 'POST',
    body: JSON.stringify({ count: BROWSERS, applicationServerKey: publicKey }),
  });
  const subscriptions = (await made.json()) as readonly PushSubscription[];
  const deviceIds = subscriptions.map((subscription) => JSON.stringify(subscription));
  const sql = connect({ kind: 'postgres', url }, 1);
  await seedDevices(sql, { appId, platformId: 7, tagIds: [tagId], count: BROWSERS, deviceIds });
  await sql.end();
}

async function behave({ simulator }: Scene, behaviour: BehaviourChange): Promise<void> {
  const body = JSON.stringify(behaviour);
  const response = await fetch(`${simulator.controlUrl}/behaviour`, { method: 'PUT', body });
  if (response.status !== 200) throw new Error(`the simulator answered ${response.status}`);
}

async function booksOf({ simulator }: Scene): Promise<Books> {
  return (await (await fetch(`${simulator.controlUrl}/state`)).json()) as Books;
}

/** How many tokens were tried and never accepted. */
async function refusedTokens({ simulator }: Scene, provider: string): Promise<number> {
  const response = await fetch(`${simulator.controlUrl}/tokens/${provider}?times=0&limit=100000`);
  return ((await response.json()) as readonly string[]).length;
}

interface Memory {
  /**
   * The most that the engine had resident in the first half of the sends, warm-up aside, and in the
   * second.
   */
  end(): Promise<{ readonly firstMb: number; readonly secondMb: number }>;
}

/** Looks at the engine's memory until `end`. */
function watchMemory(t: Test, scene: Scene, { child }: EngineProcess): Memory {
  let firstMb = 0;
  let secondMb = 0;
  let looking: Promise<void> = Promise.resolve();
  const half = PROVIDERS.reduce((sum, { devices }) => sum + devices, 0) / 2;
  const look = async (): Promise<void> => {
    const books = await booksOf(scene);
    const sends = PROVIDERS.reduce((sum, { name }) => sum + books[name].accepted, 0);
    const mb = residentMb(child.pid ?? 0);
    if (sends >= half) secondMb = Math.max(secondMb, mb);
    else if (sends >= WARM_SENDS) firstMb = Math.max(firstMb, mb);
  };
  const timer = setInterval(() => {
    looking = looking.then(look);
  }, SAMPLE_EVERY_MS);
  t.teardown(() => clearInterval(timer));
  return {
    end: async () => {
      clearInterval(timer);
      await looking;
      return { firstMb, secondMb };
    },
  };
}

function residentMb(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(kilobytes) / 1_024);
}
