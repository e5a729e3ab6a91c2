/**
 * An engine whose clock is an hour ahead, and that is killed: when the clock is set right, what it
 * left goes on, and its tokens are not used.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { finalStatus, push, status } from '../support/client.ts';
import { until } from '../support/poll.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { setScene } from './scene.ts';

const DEVICES = 30;
const SEND_LIMIT_MS = 60_000;

/**
 * A module that a process loads first: its date is an hour ahead in all threads, no other clock is.
 */
const AHEAD = `
  const Right = Date;
  const now = () => Right.now() + 3_600_000;
  globalThis.Date = class extends Right {
    constructor(...given) {
      super(...(given.length === 0 ? [now()] : given));
    }
    static now() {
      return now();
    }
  };
`;

t.setTimeout(180_000);

t.test('a clock that was ahead while tokens were made and parts waited', async (t) => {
  const scene = await setScene(t, undefined, {
    simulatorFlags: [],
    apnsDevices: DEVICES,
    fcmDevices: DEVICES,
  });
  const preload = join(temporaryDirectory(t), 'ahead.cjs');
  writeFileSync(preload, AHEAD);
  const ahead = await scene.start({ NODE_OPTIONS: `--require ${preload}` });
  const first = await push(ahead.baseUrl, scene.demo, [scene.tagId]);
  const rowsOf = async () => {
    const rows = await status(ahead.baseUrl, scene.demo, first);
    const rowOf = (platform: number) => rows.find(({ key }) => key.platformId === platform);
    return { apns: rowOf(3), fcm: rowOf(15) };
  };
  const { apns } = await until('Apple refuses the token', async () => {
    const rows = await rowsOf();
    return rows.apns?.failedCount === DEVICES ? rows : null;
  });
  t.match(apns?.fault, /InvalidProviderToken: .* the clock of this machine is wrong/);
  await until('Google refuses the assertion', () =>
    /no authorization for a provider/.test(ahead.output()) ? true : null,
  );
  t.match(ahead.output(), /is the clock of this machine right/);
  await ahead.end('SIGKILL');

  const right = await scene.start();
  const left = await finalStatus(right.baseUrl, scene.demo, first, SEND_LIMIT_MS);
  t.match(
    left.find(({ key }) => key.platformId === 15),
    { state: 'FINISHED', successCount: DEVICES },
    'what waited does not wait for the hour',
  );
  t.match(right.output(), /the database's clock was set back/);
  const second = await push(right.baseUrl, scene.demo, [scene.tagId]);
  for (const row of await finalStatus(right.baseUrl, scene.demo, second, SEND_LIMIT_MS)) {
    t.match(row, { state: 'FINISHED', successCount: DEVICES, failedCount: 0 });
  }
});
