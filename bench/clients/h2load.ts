/**
 * h2load, nghttp2's load generator, in a process of its own: the mark for what one core can send at
 * all.
 */

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '../../test/support/programs.ts';
import { renderPush } from '../push.ts';
import type { Sink } from '../sinks/sink.ts';
import { originOf } from '../sinks/sink.ts';
import type { Client } from './client.ts';
import { IN_FLIGHT, percentile } from './client.ts';

/**
 * Writing its log costs a tenth of its speed, so latencies are of a shorter run after the one that
 * counts.
 */
const LOGGED_SHARE = 0.25;
const LIMIT_MS = 60_000;

/**
 * `times` prints, in its second line, what the shell's children have used: `0m1.730000s
 * 0m0.120000s`.
 */
const WITH_TIMES = '"$@" && times';
const TIMES = /(\d+)m([\d.]+)s (\d+)m([\d.]+)s\s*$/;
const RATE = /finished in .*, ([\d.]+) req\/s/;
const SUCCEEDED = /status codes: (\d+) 2xx/;

const run = promisify(execFile);

/** Null when it is not installed. */
export function findH2load(): Client | null {
  const program = findProgram('h2load');
  if (program !== null)
    return { name: 'h2load', measure: (...round) => measure(program, ...round) };
  console.log('(h2load is not installed: no row for it)');
  return null;
}

async function measure(program: string, sink: Sink, count: number) {
  const directory = mkdtempSync(join(tmpdir(), 'tagcast-'));
  try {
    const options = optionsFor(sink, directory);
    const { perSecond, cpuMicros } = await load(program, options, count);
    const log = join(directory, 'log');
    const logged = Math.ceil(count * LOGGED_SHARE);
    await load(program, [...options, `--log-file=${log}`], logged);
    return { perSecond, cpuMicros, ...latenciesOf(readFileSync(log, 'utf8')) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function optionsFor(sink: Sink, directory: string): readonly string[] {
  const { pathBefore, bodyBefore, lastingFields, messageFields } = renderPush(sink);
  const addresses = join(directory, 'addresses');
  const body = join(directory, 'body');
  const addressOf = (token: string): string => `${originOf(sink)}${pathBefore}${token}\n`;
  writeFileSync(addresses, sink.tokens.map(addressOf).join(''));
  writeFileSync(body, bodyBefore);
  // nghttp2 spells `authorization` out in every request. Where the server does not read it h2load
  // goes without, which makes it the harder mark.
  const authorization = sink.name === 'nghttpd' ? {} : { authorization: sink.authorization };
  const headers = Object.entries({ ...authorization, ...lastingFields, ...messageFields });
  return [
    '--clients=1',
    '--threads=1',
    `--max-concurrent-streams=${IN_FLIGHT}`,
    `--input-file=${addresses}`,
    `--data=${body}`,
    ...headers.map(([name, value]) => `--header=${name}: ${value}`),
  ];
}

async function load(program: string, options: readonly string[], count: number) {
  const command = [program, `--requests=${count}`, ...options];
  const { stdout } = await run('sh', ['-c', WITH_TIMES, 'sh', ...command], { timeout: LIMIT_MS });
  if (Number(SUCCEEDED.exec(stdout)?.[1]) !== count) throw new Error(`not all 200: ${stdout}`);
  const [user, userSeconds, system, systemSeconds] = (TIMES.exec(stdout) ?? [])
    .slice(1)
    .map(Number);
  const minutes = Number(user) + Number(system);
  const seconds = minutes * 60 + Number(userSeconds) + Number(systemSeconds);
  return { perSecond: Number(RATE.exec(stdout)?.[1]), cpuMicros: (seconds * 1e6) / count };
}

/** A line for each request: when it began, its status, how many microseconds it took. */
function latenciesOf(log: string) {
  const lines = log.trimEnd().split('\n');
  const micros = Float64Array.from(lines, (line) => Number(line.split('\t')[2])).sort();
  return { p50Ms: percentile(micros, 0.5) / 1_000, p99Ms: percentile(micros, 0.99) / 1_000 };
}
