/**
 * What documents name exists: links, paths, variables, metrics, log lines, problems.
 * docs/decisions/ are history, and not held.
 */

import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { connectionMetrics, RequestCounts } from '../../src/api/metrics.ts';
import { schema } from '../../src/app/config.ts';
import { objectIdMetric } from '../../src/app/upkeep/object-id-metric.ts';
import { DeviceCounts, registrationMetrics } from '../../src/devices/metrics.ts';
import { credentialMetrics } from '../../src/provider-credentials/metrics.ts';
import { backlogMetrics, ledgerMetrics, partMetrics } from '../../src/push/metrics/job-metrics.ts';
import { circuitMetric, providerMetrics } from '../../src/push/metrics/provider-metrics.ts';
import { SendCounts } from '../../src/push/metrics/send-counts.ts';
import { redisMetrics, resolveMetrics } from '../../src/tag-index/metrics.ts';
import { ResolveMeter } from '../../src/tag-index/resolve-meter.ts';
import type { Metric } from '../../src/telemetry/metric.ts';
import { Metrics } from '../../src/telemetry/metrics.ts';
import { threadMetrics } from '../../src/telemetry/thread-metrics.ts';
import { TransportMeter } from '../../src/transport/transport-meter.ts';
import { createDeliveryCounter, waitingMetrics } from '../../src/webhooks/metrics.ts';
import {
  DOCUMENTS,
  matching,
  PACKAGES,
  quotedIn,
  ROOT,
  readText,
  rowsOf,
  SOURCES,
  sectionOf,
} from '../support/documents.ts';

const source = SOURCES.map(readText).join('\n');
const operating = readText('docs/operating.md');

/** Served by a running engine, beside the guides: test/console/guides.test.ts follows these. */
const OF_THE_ENGINE = /^\/(?:docs|console)\//;

t.test('every link between documents resolves, and so does its anchor', (t) => {
  for (const document of DOCUMENTS) {
    for (const [, target = ''] of readText(document).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (target.includes('://') || OF_THE_ENGINE.test(target)) continue;
      const [file = '', anchor] = target.split('#');
      const path = file === '' ? document : join(dirname(document), file);
      t.ok(existsSync(join(ROOT, path)), `${document}: ${target}`);
      if (anchor === undefined) continue;
      t.ok(anchorsOf(readText(path)).includes(anchor), `${document}: ${target} is a heading`);
    }
  }
  t.end();
});

/** As GitHub makes them; of headings alike the second one ends in -1. */
function anchorsOf(text: string): readonly string[] {
  const seen = new Map<string, number>();
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-');
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
}

/**
 * A path of this project: folders, and a file or nothing behind them; or a source file by its name
 * alone.
 */
const PATH = /^[\w.*{}, -]+\/[\w.*{}/, -]*$|^[\w-]+\.ts$/;
/** Paths that are made elsewhere, or later: by a running engine, a build, a bench. */
const MADE_LATER = /^(\.\.\/|dist\/|data\/|bench\/results\/|DATA_DIR\/|postgres|secret\/)/;

t.test('every path that a document names exists, below src/ or the root', (t) => {
  const folders = [
    ...['src', 'test', 'bench', 'config', 'docs', 'console/guides'],
    ...PACKAGES.map((name) => `packages/${name}/src`),
  ];
  const paths = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map(
      (path) => `${folder}/${path}`,
    ),
  );
  const known = [
    ...['packages', ...PACKAGES.map((name) => `packages/${name}`)],
    ...[...paths, ...paths.map((path) => path.replace(/^src\//, ''))],
  ];
  const names = paths.map((path) => path.split('/').at(-1) ?? '');
  let held = 0;
  for (const document of DOCUMENTS) {
    for (const quoted of quotedIn(readText(document))) {
      const path = quoted.replace(/\/$/, '');
      const isFile = path.endsWith('.ts');
      const isFolder = quoted.endsWith('/') || path.split('/')[0] === 'docs';
      if (!PATH.test(quoted) || MADE_LATER.test(quoted) || !(isFile || isFolder)) continue;
      held += 1;
      const found = matching(path, [...folders, ...known, ...names]);
      // Within the folder that the sentence is about: `apns/` of `providers/`.
      const isWithin = known.some((other) => other.endsWith(`/${path}`));
      t.ok(found.length > 0 || isWithin, `${document}: ${quoted}`);
    }
  }
  t.ok(held > 400, `${held} paths are held`);
  t.end();
});

/**
 * Variables that others read: Node.js, the SDK of OpenTelemetry, the C library, the test runner,
 * the load test, docker compose, the examples themselves.
 */
const OF_OTHERS = [
  // The guides' own, and Android's.
  'TAGCAST_URL',
  'APP_ID',
  'API_USER_TOKEN',
  'SUPER_USER_TOKEN',
  'TEAM_ID',
  'DEVICE_TOKEN',
  'POST_NOTIFICATIONS',
  'NODE_EXTRA_CA_CERTS',
  'MALLOC_ARENA_MAX',
  'POSTGRES_PASSWORD',
  'TEST_DATABASE_URL',
  'LOAD_APP_TOKEN',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_SERVICE_NAME',
];

t.test('every variable that a document sets or shows in capitals exists', (t) => {
  const words = new Set(source.match(/\b[A-Z][A-Z0-9_]+\b/g));
  for (const document of DOCUMENTS) {
    const text = readText(document);
    for (const quoted of quotedIn(text)) {
      const [, name, isSet] = /^([A-Z]+(?:_[A-Z0-9]+)+)(=.*)?$/.exec(quoted) ?? [];
      if (name === undefined || OF_OTHERS.includes(name)) continue;
      if (isSet !== undefined) t.ok(name in schema.shape, `${document}: ${quoted} is a variable`);
      else t.ok(words.has(name), `${document}: ${name} exists`);
    }
    for (const [, name = ''] of text.matchAll(/^(?:export )?([A-Z]+_[A-Z_]+)=/gm)) {
      t.ok(name in schema.shape || OF_OTHERS.includes(name), `${document}: ${name} is a variable`);
    }
  }
  t.end();
});

const NO_HISTOGRAM = { bounds: [], counts: [0], sum: 0 };

/** What all parts of an engine with one of everything declare. */
function declaredMetrics(): readonly Metric[] {
  const scope = { appId: 1, platformId: 3 } as const;
  const requests = new RequestCounts();
  requests.requests.with({ method: 'GET', route: '/', status: '200' });
  requests.overloads.with({ part: 'http' });
  requests.limitRefusals.with({ limit: 'tags' });
  const devices = new DeviceCounts();
  devices.ignoredParameters.with({ field: 'tagId' });
  devices.committed.with({ operation: 'reg' });
  const sends = new SendCounts();
  sends.noteHeld(3, 1);
  const batches = { seconds: { reading: NO_HISTOGRAM }, operations: { reading: NO_HISTOGRAM } };
  const meter = new TransportMeter();
  const kinds = { chunk: 0, retries: 0 };
  const vitals = {
    heapUsedBytes: 0,
    heapBytes: 0,
    externalBytes: 0,
    arrayBuffersBytes: 0,
    activeSeconds: 0,
    eventLoopDelaySeconds: NO_HISTOGRAM,
  };
  return [
    ...requests.metrics,
    ...connectionMetrics({ size: 0, turnedAway: 0, cutOff: 0, unsentBytes: 0 }),
    ...devices.metrics,
    ...registrationMetrics({ depth: 1, stages: { looked: batches, written: batches } }),
    objectIdMetric(() => 0),
    ...credentialMetrics(() => [{ ...scope, isHealthy: true, expiresAtMs: 1, isFallback: false }]),
    circuitMetric(() => [{ ...scope, openThreads: 1 }]),
    ...redisMetrics(() => ({ isReachable: true, groupsWaiting: 0, groupsRepaired: 0 })),
    ...resolveMetrics(() => new ResolveMeter().reading),
    ...providerMetrics(() => [{ ...meter.reading, provider: 'any' }]),
    ...sends.metrics,
    ...partMetrics(() => ({ claimed: kinds, underWay: kinds })),
    ...ledgerMetrics(() => ({
      recordSeconds: NO_HISTOGRAM,
      reportsWaiting: 0,
      lagSeconds: 0,
      failedAttempts: 0,
    })),
    ...backlogMetrics(() => ({ jobs: { RUNNING: 0 }, chunks: 0, retries: 0 })),
    createDeliveryCounter(),
    ...waitingMetrics(() => ({ events: 0, pendingDeliveries: 0, oldestSeconds: 0 })),
    ...threadMetrics(() => [{ thread: 'main', vitals }]),
  ];
}

t.test('these are all metrics that the source declares', (t) => {
  const inSource = new Set(source.match(/(?<=')tagcast_(?!session)\w+(?=')/g));
  t.same(
    [...inSource].toSorted(),
    declaredMetrics()
      .map(({ name }) => name)
      .toSorted(),
  );
  t.end();
});

/** Every metric of ours and its labels, as they are shown. */
async function shownMetrics(): Promise<Readonly<Record<string, readonly string[]>>> {
  const metrics = new Metrics();
  metrics.add(declaredMetrics());
  const text = await metrics.text();
  const histograms = new Set([...text.matchAll(/^# TYPE (\w+) histogram$/gm)].map(([, it]) => it));
  const series = text.matchAll(/^(tagcast_\w+)(?:\{(.*)\})? /gm);
  return Object.fromEntries(
    [...series].map(([, name = '', labels = '']) => {
      // A histogram is one metric, however many series it has.
      const whole = name.replace(/_(?:bucket|sum|count)$/, '');
      return [
        histograms.has(whole) ? whole : name,
        [...labels.matchAll(/(\w+)="/g)].flatMap(([, label = '']) => (label === 'le' ? [] : label)),
      ];
    }),
  );
}

t.test('errors.md has every reason that the console explains', (t) => {
  const reasons = sectionOf(readText('docs/guides/errors.md'), '## Why a device failed');
  const texts = readText('console/src/texts/notifications.ts').split('reasonTexts')[1] ?? '';
  const named = [...(texts.split('\n};')[0]?.matchAll(/^ {2}(\w+):/gm) ?? [])].map(
    ([, name = '']) => name,
  );
  t.ok(named.length > 10, `${named.length} reasons`);
  for (const reason of named) t.ok(reasons.includes(`\`${reason}\``), reason);
  t.end();
});

t.test('operating.md has every metric with its labels, and no document another', async (t) => {
  const shown = await shownMetrics();
  const rows = rowsOf(sectionOf(operating, '## Health and metrics'));
  const told = rows
    .flatMap((row) => quotedIn(row['metric'] ?? '').map((name) => [name, row['labels']] as const))
    .filter(([name]) => name.startsWith('tagcast_'))
    .map(([name, labels = '']) => [name, labelsIn(labels)] as const);
  t.same(Object.fromEntries(told), shown);
  for (const document of DOCUMENTS) {
    for (const [name] of readText(document).matchAll(/\btagcast_[a-z_]+[a-z]\b(?!\*|_)/g)) {
      const isKnown = name in shown || Object.keys(shown).some((it) => it.startsWith(`${name}_`));
      t.ok(isKnown, `${document}: ${name}`);
    }
  }
});

/** `platform, outcome: \`failed\` …`: the names before the colons. */
const labelsIn = (cell: string): readonly string[] =>
  cell
    .replaceAll(/:.*/g, '')
    .split(', ')
    .filter((label) => label !== '');

t.test('every log line that operating.md quotes is in the source', (t) => {
  const rows = rowsOf(sectionOf(operating, '## Logs'));
  let held = 0;
  for (const line of rows.flatMap((row) => quotedIn(row['`msg`'] ?? ''))) {
    held += 1;
    t.ok(source.includes(line.replace(/…$/, '')), line);
  }
  for (const quoted of quotedIn(operating).filter((quoted) => /^\w.* .*…$/.test(quoted))) {
    if (quoted.includes(' -- ') || quoted.startsWith('node ')) continue;
    t.ok(source.includes(quoted.slice(0, -1)), quoted);
  }
  t.ok(held > 50, `${held} lines are held`);
  t.end();
});

/** A call of the logger; the last text in it is the line. */
const LOGGED = /\blog\??\.(?:info|warn|error|fatal)\(([\s\S]*?)\);/g;
/** A line may go on behind its beginning: with advice, with the command to use. */
const BEGINNING_LENGTH = 40;

t.test('every line that the source logs is in operating.md', (t) => {
  let held = 0;
  for (const [, call = ''] of source.matchAll(LOGGED)) {
    const line = [...call.matchAll(/'((?:[^'\\\n]|\\.)+)'/g)].at(-1)?.[1];
    if (line === undefined) continue;
    held += 1;
    t.ok(operating.includes(line.slice(0, BEGINNING_LENGTH)), line);
  }
  t.ok(held > 40, `${held} lines are held`);
  t.end();
});

t.test('api.md has every status that is answered as a problem, and says what is answered', (t) => {
  const api = readText('docs/api.md');
  const answered = [...readText('src/http/problem.ts').matchAll(/^ {2}(\d{3}): '/gm)].map(
    ([, status]) => status,
  );
  const errors = sectionOf(api, '## Errors');
  const authentication = sectionOf(api, '## Authentication');
  for (const status of answered) {
    t.ok(`${errors}${authentication}`.includes(`\`${status}\``), `api.md has ${status}`);
  }
  const guide = readText('docs/guides/errors.md');
  for (const status of [
    ...answered,
    ...quotedIn(errors).filter((quoted) => /^[45]\d{2}$/.test(quoted)),
  ]) {
    t.ok(sectionOf(guide, '## By status').includes(`\`${status}\``), `errors.md has ${status}`);
  }
  for (const row of rowsOf(errors)) {
    const [status] = quotedIn(row['status'] ?? '');
    t.ok(answered.includes(status), `${status} is a problem`);
  }
  for (const [, detail = ''] of api.matchAll(/"(?:detail|message)":"([^"]+)"/g)) {
    if (!/\d/.test(detail)) t.ok(source.includes(detail), detail);
  }
  t.end();
});
