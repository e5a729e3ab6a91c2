/** Writes load.json, and load.html: one file that opens anywhere, charts by uPlot. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Driven } from './drive.ts';
import type { LoadOptions } from './options.ts';
import type { Sends } from './sends.ts';

export interface LoadReport {
  readonly startedAt: string;
  readonly url: string;
  readonly profile: LoadOptions['profile'];
  readonly connections: number;
  readonly rate: number | null;
  readonly answered: Driven;
  /** Null: the profile sends nothing. */
  readonly sends: Sends | null;
}

const require = createRequire(import.meta.url);

/** Answers where the page is. */
export function writeReport(folder: string, report: LoadReport): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'load.json'), `${JSON.stringify(report, null, 2)}\n`);
  const page = join(folder, 'load.html');
  writeFileSync(page, htmlOf(report));
  return page;
}

/** Text in the form of a page's text or attribute. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** JSON within a script: no text of it can end the script. */
const json = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c');

const shown = (value: number | null): string =>
  value === null ? '–' : value.toLocaleString('en', { maximumFractionDigits: 1 });

const table = (rows: readonly (readonly [string, string])[]): string =>
  `<table>${rows.map(([name, value]) => `<tr><th>${escaped(name)}</th><td>${escaped(value)}</td></tr>`).join('')}</table>`;

function htmlOf(report: LoadReport): string {
  const { answered, sends } = report;
  const dist = dirname(require.resolve('uplot'));
  const script = readFileSync(join(dist, 'uPlot.iife.min.js'), 'utf8');
  const style = readFileSync(join(dist, 'uPlot.min.css'), 'utf8');
  const { samples } = answered;
  const series = {
    seconds: samples.map(({ second }) => second),
    answers: samples.map((sample) => sample.answers),
    refusals: samples.map((sample) => sample.refusals),
    p50Ms: samples.map((sample) => sample.p50Ms),
    p99Ms: samples.map((sample) => sample.p99Ms),
  };
  const statuses = Object.entries(answered.statuses).map(
    ([status, count]) =>
      [
        status === 'none' ? 'no answer' : `answers ${status}`,
        `${shown(count)}${answered.refusals[status] === undefined ? '' : `: ${answered.refusals[status]}`}`,
      ] as const,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Load test: ${escaped(report.profile)}</title>
<style>${style}
body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#1c1e21;background:#fff}
th{text-align:left;font-weight:500;padding-right:2rem;vertical-align:top}td{font-variant-numeric:tabular-nums}
</style></head><body>
<h1>Load test: ${escaped(report.profile)}</h1>
${table([
  ['deployment', report.url],
  ['started', report.startedAt],
  ['connections', shown(report.connections)],
  ['requests a second', report.rate === null ? 'as many as are answered' : shown(report.rate)],
])}
<h2>Requests</h2>
${table([
  ['answers', `${shown(answered.answers)} in ${shown(answered.seconds)} s`],
  ['answers a second', shown(answered.perSecond)],
  ['half are answered within', `${shown(answered.p50Ms)} ms`],
  ['99 % are answered within', `${shown(answered.p99Ms)} ms`],
  ['the longest took', `${shown(answered.mostMs)} ms`],
  ...statuses,
])}
${sends === null ? '' : sendsOf(sends)}
<h2>Answers a second</h2><div id="answers"></div>
<h2>Time to the answer, ms</h2><div id="times"></div>
<p>autocannon ran beside the deployment if this was one machine: it takes a good part of its processors.</p>
<script>${script}</script>
<script>
const data = ${json(series)};
const size = { width: Math.min(960, document.body.clientWidth), height: 260 };
const scales = { x: { time: false } };
const axes = [{ label: 'second' }, {}];
new uPlot({ ...size, scales, axes, series: [{ label: 'second' },
  { label: 'answers', stroke: '#2563eb', fill: '#2563eb22' }, { label: 'not 2xx', stroke: '#dc2626' }] },
  [data.seconds, data.answers, data.refusals], document.getElementById('answers'));
new uPlot({ ...size, scales, axes, series: [{ label: 'second' },
  { label: 'half within', stroke: '#2563eb' }, { label: '99 % within', stroke: '#d97706' }] },
  [data.seconds, data.p50Ms, data.p99Ms], document.getElementById('times'));
</script></body></html>
`;
}

const sendsOf = (sends: Sends): string => `<h2>Sends</h2>
${table([
  ['pushes', `${shown(sends.pushes)}, of which ${shown(sends.finished)} have ended`],
  [
    'devices',
    `${shown(sends.devices)}: ${shown(sends.succeeded)} accepted by the provider, ${shown(sends.failed)} failed`,
  ],
  [
    'from acceptance to first send',
    `half within ${shown(sends.firstP50Ms)} ms, 99 % within ${shown(sends.firstP99Ms)} ms`,
  ],
  [
    'from acceptance to the end',
    `half within ${shown(sends.endP50Ms)} ms, 99 % within ${shown(sends.endP99Ms)} ms`,
  ],
])}`;
