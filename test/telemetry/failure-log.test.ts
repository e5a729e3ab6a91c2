/** How much is logged when a store is away and everybody asks. */

import { mock } from 'node:test';
import { pino } from 'pino';
import t from 'tap';
import { openPostgres } from '../../src/database/store.ts';
import type { Route } from '../../src/http/handler.ts';
import { FailureLog } from '../../src/telemetry/failure-log.ts';
import { startApiOn } from '../support/api.ts';
import { withPostgres } from '../support/store.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

const collect = () => {
  const lines: Readonly<Record<string, unknown>>[] = [];
  const log = pino(
    { level: 'warn' },
    { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  return { lines, log };
};

t.test('a store that is away: a stack for each kind, then a count', async (t) => {
  await withPostgres(t, async (t, url) => {
    const address = new URL(url);
    const proxy = await startTcpProxy(t, Number(address.port));
    address.port = String(proxy.port);
    address.hostname = '127.0.0.1';
    const store = await openPostgres(address.href);
    t.teardown(() => store.close());
    const route: Route = {
      api: 'app',
      operation: null,
      method: 'GET',
      path: '/any',
      bodyBytesMax: 0,
      handle: () => ({ status: 200, body: '' }),
    };
    const { lines, log } = collect();
    const { baseUrl } = await startApiOn(t, store, [route], { log });
    const ask = (number: number) =>
      fetch(`${baseUrl}/any`, { headers: { Authorization: `Bearer tca_${number}` } });
    // The counts are logged every ten seconds; the timer is the only one of its kind here.
    mock.timers.enable({ apis: ['setInterval'] });
    t.teardown(() => mock.timers.reset());
    proxy.end();
    for (let number = 0; number < 300; number += 1) {
      t.equal((await ask(number)).status, 503);
    }
    const whole = lines.filter(({ err }) => err !== undefined);
    t.ok(whole.length > 0 && whole.length < 10, `${whole.length} kinds of failures`);
    for (const { err } of whole) t.match((err as { stack: string }).stack, /\n\s+at /);
    mock.timers.tick(10_000);
    const counts = lines.map(({ times }) => (typeof times === 'number' ? times : 0));
    const told = counts.reduce((sum, times) => sum + times, whole.length);
    t.equal(told, 300, 'they are counted');
    const counted = lines.find(({ times }) => times !== undefined);
    t.match(counted, {
      msg: 'the database could not serve a request',
      route: '/any',
      requestId: /^[\da-f]{32}$/,
      reason: /^[A-Z\d_]+: /,
    });
    t.ok(lines.length < 20, `${lines.length} lines for 300 requests`);
  });
});

t.test('failures from other places are other kinds; what is counted is told at the end', (t) => {
  const { lines, log } = collect();
  const failures = new FailureLog(log);
  const tell = (error: unknown) =>
    failures.tell({ level: 'error', sentence: 'it failed', error, context: {} });
  for (let times = 0; times < 3; times += 1) {
    tell(new Error(`here ${times}`));
    tell(new TypeError('there'));
  }
  t.equal(lines.length, 2);
  failures.stop();
  t.match(lines.slice(2), [
    { level: 50, msg: 'it failed', times: 2, reason: 'Error: here 2' },
    { level: 50, msg: 'it failed', times: 2, reason: 'TypeError: there' },
  ]);
  for (let code = 0; code < 200; code += 1) {
    tell(Object.assign(new Error('one of many'), { code: `CODE_${code}` }));
  }
  t.equal(lines.length, 4 + 101, 'kinds are bounded');
  failures.stop();
  t.equal(lines.at(-1)?.['times'], 99);
  t.end();
});
