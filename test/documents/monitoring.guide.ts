/**
 * config/alerts.yaml and config/grafana.json, read by Prometheus' own promtool: each rule fires on
 * what it is for, and on nothing else; each metric that they name exists.
 */

import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import { parse } from 'yaml';
import { ROOT, readText } from '../support/documents.ts';
import { findProgram, runProgram } from '../support/programs.ts';
import { shownMetrics } from '../support/reference/metrics.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A series without `tagcast_`, and its samples, one a minute, in promtool's notation. */
type Series = Readonly<Record<string, string>>;

interface Case {
  readonly fires: Series;
  readonly isSilent: Series;
  readonly at: string;
  readonly labels: Readonly<Record<string, string>>;
}

const SCOPE = { app: '1', platform: '3' };
const ON_A = { instance: 'a' };

const CASES: Readonly<Record<string, Case>> = {
  TagcastRefusesRequests: {
    fires: { 'http_requests_total{instance="a",route="/push-api/reg",status="503"}': '0+60x30' },
    isSilent: {
      'http_requests_total{instance="a",route="/push-api/reg",status="503"}': '7x30',
      'http_requests_total{instance="a",route="/push-api/reg",status="200"}': '0+900x30',
    },
    at: '15m',
    labels: { ...ON_A, route: '/push-api/reg' },
  },
  TagcastServerErrors: {
    fires: { 'http_requests_total{instance="a",route="/v3/tags",status="500"}': '_x10 1x20' },
    isSilent: {
      'http_requests_total{instance="a",route="/v3/tags",status="500"}': '5x30',
      'http_requests_total{instance="a",route="/v3/tags",status="503"}': '0+1x30',
    },
    at: '15m',
    labels: { ...ON_A, route: '/v3/tags' },
  },
  TagcastSendsFail: {
    fires: {
      'sends_total{instance="a",platform="3",outcome="failed"}': '0+300x30',
      'sends_total{instance="a",platform="3",outcome="delivered"}': '0+700x30',
    },
    isSilent: {
      'sends_total{instance="a",platform="3",outcome="failed"}': '0+10x30',
      'sends_total{instance="a",platform="3",outcome="delivered"}': '0+700x30',
      // All failed, but they are too few for an alarm.
      'sends_total{instance="a",platform="15",outcome="failed"}': '0+1x30',
    },
    at: '20m',
    labels: { platform: '3' },
  },
  TagcastProviderFails: {
    fires: { 'provider_circuit_open{instance="a",app="1",platform="3"}': '2x30' },
    isSilent: { 'provider_circuit_open{instance="a",app="1",platform="3"}': '1x2 _x28' },
    at: '10m',
    labels: SCOPE,
  },
  TagcastCredentialRefused: {
    fires: { 'credential_healthy{instance="a",app="1",platform="3"}': '0x30' },
    isSilent: {
      'credential_healthy{instance="a",app="1",platform="3"}': '1x30',
      'credential_fallback{instance="a",app="1",platform="3"}': '0x30',
    },
    at: '10m',
    labels: SCOPE,
  },
  TagcastCredentialExpires: {
    fires: { 'credential_expires_seconds{instance="a",app="1",platform="3"}': '86400x30' },
    isSilent: { 'credential_expires_seconds{instance="a",app="1",platform="3"}': '8640000x30' },
    at: '10m',
    labels: SCOPE,
  },
  TagcastDeletionsHeld: {
    fires: { 'held_deletions_total{instance="a",platform="3"}': '_x5 4000x90' },
    isSilent: { 'held_deletions_total{instance="a",platform="3"}': '4000x90' },
    at: '61m',
    labels: { platform: '3' },
  },
  TagcastIndexUnreachable: {
    fires: { 'index_reachable{instance="a"}': '0x30' },
    isSilent: { 'index_reachable{instance="a"}': '1x30' },
    at: '10m',
    labels: ON_A,
  },
  TagcastIndexBehind: {
    fires: { 'index_groups_waiting{instance="a"}': '3x30' },
    isSilent: { 'index_groups_waiting{instance="a"}': '3x5 0x25' },
    at: '20m',
    labels: ON_A,
  },
  TagcastLedgerLags: {
    fires: { 'ledger_lag_seconds{instance="a"}': '0+60x30' },
    isSilent: { 'ledger_lag_seconds{instance="a"}': '1x30' },
    at: '10m',
    labels: ON_A,
  },
  TagcastPartsFail: {
    fires: { 'part_failures_total{instance="a",result="given-back"}': '0+1x30' },
    isSilent: { 'part_failures_total{instance="a",result="given-back"}': '9x30' },
    at: '20m',
    labels: ON_A,
  },
  TagcastBacklogStands: {
    fires: {
      'backlog_chunks{instance="a"}': '40x40',
      'sends_total{instance="a",platform="3",outcome="delivered"}': '7x40',
    },
    isSilent: {
      'backlog_chunks{instance="a"}': '40x40',
      'sends_total{instance="a",platform="3",outcome="delivered"}': '0+9x40',
    },
    at: '35m',
    labels: {},
  },
  TagcastEventLoopFull: {
    fires: { 'thread_active_seconds_total{instance="a",thread="main"}': '0+60x30' },
    isSilent: { 'thread_active_seconds_total{instance="a",thread="main"}': '0+30x30' },
    at: '25m',
    labels: { ...ON_A, thread: 'main' },
  },
  TagcastObjectIdsRunOut: {
    fires: { 'object_ids_used_ratio{instance="a"}': '0.6x30' },
    isSilent: { 'object_ids_used_ratio{instance="a"}': '0.1x30' },
    at: '10m',
    labels: {},
  },
};

const ALERTS = 'config/alerts.yaml';
const { groups } = parse(readText(ALERTS)) as { groups: readonly { rules: readonly Rule[] }[] };
const rules = groups.flatMap(({ rules }) => rules);

/** A dashboard of Grafana, as far as it is looked at here. */
interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly description?: string;
    readonly targets?: readonly { readonly expr: string }[];
  }[];
}
const { panels } = JSON.parse(readText('config/grafana.json')) as Dashboard;
const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

/** The path of a file with this content, as JSON, which is YAML. */
const yamlFile = (t: Test, content: object): string =>
  join(temporaryDirectory(t, { 'file.yaml': JSON.stringify(content) }), 'file.yaml');

async function promtool(t: Test, ...args: readonly string[]): Promise<void> {
  const { code, out, err } = await runProgram(t, findProgram('promtool') ?? '', args);
  t.equal(code, 0, `${out}${err}`);
}

const options = { skip: findProgram('promtool') === null && 'promtool is not installed' };

t.test('promtool takes the rules as they are', options, (t) =>
  promtool(t, 'check', 'rules', join(ROOT, ALERTS)),
);

t.test('each rule fires on what it is for, and on nothing else', options, async (t) => {
  t.same(rules.map(({ alert }) => alert).sort(), Object.keys(CASES).sort(), 'each is tried');
  // promtool compares annotations too, which would be every sentence twice.
  const bare = rules.map(({ annotations, ...rule }) => rule);
  const file = yamlFile(t, { groups: [{ name: 'tagcast', rules: bare }] });
  const severityOf = (name: string) => rules.find(({ alert }) => alert === name)?.labels;
  const testOf = (name: string, { at, labels }: Case, series: Series, isFiring: boolean) => ({
    interval: '1m',
    input_series: Object.entries(series).map(([of, values]) => ({
      series: `tagcast_${of}`,
      values,
    })),
    alert_rule_test: [
      {
        eval_time: at,
        alertname: name,
        exp_alerts: isFiring ? [{ exp_labels: { ...labels, ...severityOf(name) } }] : [],
      },
    ],
  });
  const tests = Object.entries(CASES).flatMap(([name, it]) => [
    testOf(name, it, it.fires, true),
    testOf(name, it, it.isSilent, false),
  ]);
  const content = { rule_files: [file], evaluation_interval: '1m', tests };
  await promtool(t, 'test', 'rules', yamlFile(t, content));
});

t.test('every query of the dashboard is one', options, async (t) => {
  const rules = queries.map((expr, index) => ({
    record: `query_${index}`,
    expr: expr.replaceAll('$__rate_interval', '5m'),
  }));
  const content = { groups: [{ name: 'dashboard', rules }] };
  await promtool(t, 'check', 'rules', yamlFile(t, content));
});

t.test('each rule fires on what it is for, and on nothing else', options, async (t) => {
  t.same(rules.map(({ alert }) => alert).sort(), Object.keys(CASES).sort(), 'each is tried');
  // promtool compares annotations too, which would be every sentence twice.
  const bare = rules.map(({ annotations, ...rule }) => rule);
  const file = yamlFile(t, { groups: [{ name: 'tagcast', rules: bare }] });
  const severityOf = (name: string) => rules.find(({ alert }) => alert === name)?.labels;
  const testOf = (name: string, { at, labels }: Case, series: Series, isFiring: boolean) => ({
    interval: '1m',
    input_series: Object.entries(series).map(([of, values]) => ({
      series: `tagcast_${of}`,
      values,
    })),
    alert_rule_test: [
      {
        eval_time: at,
        alertname: name,
        exp_alerts: isFiring ? [{ exp_labels: { ...labels, ...severityOf(name) } }] : [],
      },
    ],
  });
  const tests = Object.entries(CASES).flatMap(([name, it]) => [
    testOf(name, it, it.fires, true),
    testOf(name, it, it.isSilent, false),
  ]);
  const content = { rule_files: [file], evaluation_interval: '1m', tests };
  await promtool(t, 'test', 'rules', yamlFile(t, content));
});

t.test('every query of the dashboard is one', options, async (t) => {
  const rules = queries.map((expr, index) => ({
    record: `query_${index}`,
    expr: expr.replaceAll('$__rate_interval', '5m'),
  }));
  const content = { groups: [{ name: 'dashboard', rules }] };
  await promtool(t, 'check', 'rules', yamlFile(t, content));
});

t.test('every metric that is asked for exists', async (t) => {
  const known = new Set((await shownMetrics()).map(({ name }) => name));
  for (const expr of [...rules.map(({ expr }) => expr), ...queries]) {
    for (const [name] of expr.matchAll(/tagcast_\w+/g)) {
      t.ok(known.has(name.replace(/_(?:bucket|sum|count)$/, '')), name);
    }
  }
  t.end();
});

t.test('each rule and each panel says what it means', (t) => {
  for (const { alert, annotations, labels } of rules) {
    t.match(annotations, { summary: /\w/, description: /\w/ }, alert);
    t.ok(['page', 'ticket'].includes(labels['severity'] ?? ''), alert);
  }
  for (const { title, targets, description } of panels) {
    if (targets !== undefined) t.match(description, /\w/, title);
  }
  t.end();
});
