import t from 'tap';
import {
  applyParameter,
  initialRemoteSettings,
  LocalSettings,
  SETTINGS_TIMEOUT_MS,
} from '../../../../packages/http2/src/connection/settings-exchange.ts';
import type { Parameter } from '../../../../packages/http2/src/frame/settings.ts';

t.test('the initial values of 6.5.2', (t) => {
  t.same(initialRemoteSettings(), {
    streamsMax: Number.POSITIVE_INFINITY,
    initialWindowOctets: 65_535,
  });
  t.not(initialRemoteSettings(), initialRemoteSettings(), 'each connection has its own');
  t.end();
});

t.test('each parameter that binds us, the last of the same, and unknown ones', (t) => {
  const settings = initialRemoteSettings();
  const parameters: Parameter[] = [
    [1, 0],
    [2, 0],
    [3, 7],
    [3, 9],
    [4, 2 ** 31 - 1],
    [5, 20_000],
    [6, 1],
    [0xabcd, 5],
  ];
  for (const parameter of parameters) applyParameter(settings, parameter);
  t.same(settings, {
    streamsMax: 9,
    initialWindowOctets: 2 ** 31 - 1,
  });
  t.end();
});

t.test('one of ours at a time; the last of those that wait is next', (t) => {
  const local = new LocalSettings();
  const [first, second, third]: Parameter[][] = [[[2, 0]], [[4, 1]], [[4, 2]]];
  t.equal(local.isAcknowledged, true);
  t.equal(local.demand(first ?? []), true);
  t.equal(local.isAcknowledged, false);
  t.equal(local.demand(second ?? []), false);
  t.equal(local.demand(third ?? []), false);
  t.same(local.acknowledged(), third);
  t.equal(local.demand(third ?? []), true, 'sent now');
  t.equal(local.acknowledged(), null);
  t.throws(() => local.acknowledged(), { name: 'ConnectionError', code: 1 }, 'an ACK for nothing');
  t.end();
});

t.test('SETTINGS_TIMEOUT', (t) => {
  const local = new LocalSettings();
  const late = { name: 'ConnectionError', code: 4 };
  local.checkTime(Number.POSITIVE_INFINITY);
  const beforeMs = performance.now();
  local.demand([]);
  const afterMs = performance.now();
  local.checkTime(beforeMs + SETTINGS_TIMEOUT_MS);
  t.throws(() => local.checkTime(afterMs + SETTINGS_TIMEOUT_MS + 1), late);
  local.acknowledged();
  local.checkTime(Number.POSITIVE_INFINITY);
  t.end();
});
