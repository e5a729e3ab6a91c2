/**
 * One connection, one push to many devices: our transports against what a Node program could use
 * instead.
 */

import { dial as dialCompat } from '../../src/transport/compat/dial.ts';
import { dial as dialHttp2 } from '../../src/transport/http2/dial.ts';
import { ProviderTransport } from '../../src/transport/provider-transport.ts';
import { apns2 } from '../clients/apns2.ts';
import type { Client, Round } from '../clients/client.ts';
import { IN_FLIGHT } from '../clients/client.ts';
import { findH2load } from '../clients/h2load.ts';
import { nodeApn } from '../clients/node-apn.ts';
import { nodeHttp2 } from '../clients/node-http2.ts';
import { transportClient } from '../clients/transport.ts';
import { median } from '../median.ts';
import type { Ratios, Row, Scenario } from '../scenario.ts';
import { startNghttpdSink } from '../sinks/nghttpd.ts';
import { startSimulatorSink } from '../sinks/simulator.ts';
import type { Sink } from '../sinks/sink.ts';

/**
 * Clients take turns, so that a minute in which the machine is busy elsewhere falls on all of them.
 */
const ROUNDS = 5;
const ROUND_SECONDS = 2;
/**
 * How many requests a round has is found out in these first ones, in which code also becomes hot.
 */
const FIRST_REQUESTS = 10_000;
const FIRST_ROUNDS = 2;

/** Our rate on nghttpd over that of each. */
const RATIOS = {
  overNodeHttp2: 'node:http2',
  overNodeApn: '@parse/node-apn',
  overApns2: 'apns2',
  overH2load: 'h2load',
} as const;

export const sender: Scenario = {
  summary: `APNs pushes on one connection, ${IN_FLIGHT} in flight, ${ROUNDS} rounds in turns, medians; CPU of the client's process only (h2load: its own)`,
  async run(stage) {
    const h2load = findH2load();
    const clients = [
      transportClient('ours', (options) => new ProviderTransport(dialHttp2, options)),
      transportClient('compat', (options) => new ProviderTransport(dialCompat, options)),
      nodeHttp2,
      nodeApn,
      apns2,
      ...(h2load === null ? [] : [h2load]),
    ];
    const rows: SenderRow[] = [];
    for (const startSink of [startNghttpdSink, startSimulatorSink]) {
      const sink = await startSink(stage);
      if (sink !== null) rows.push(...(await compare(clients, sink)));
    }
    return { rows, ratios: ratiosOf(rows) };
  },
};

interface SenderRow extends Round, Row {
  readonly name: string;
  readonly sink: string;
}

async function compare(clients: readonly Client[], sink: Sink): Promise<readonly SenderRow[]> {
  const entrants = [];
  for (const client of clients) {
    entrants.push({ client, count: await countFor(client, sink), rounds: [] as Round[] });
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { client, count, rounds } of entrants)
      rounds.push(await client.measure(sink, count));
  }
  return entrants.map(({ client, rounds }) => ({
    name: client.name,
    sink: sink.name,
    perSecond: Math.round(median(rounds.map((round) => round.perSecond))),
    cpuMicros: median(rounds.map((round) => round.cpuMicros)),
    p50Ms: median(rounds.map((round) => round.p50Ms)),
    p99Ms: median(rounds.map((round) => round.p99Ms)),
  }));
}

/** The requests that this client sends to this sink in the time of a round. */
async function countFor(client: Client, sink: Sink): Promise<number> {
  let count = FIRST_REQUESTS;
  for (let round = 0; round < FIRST_ROUNDS; round += 1) {
    const { perSecond } = await client.measure(sink, count);
    count = Math.ceil(perSecond * ROUND_SECONDS);
  }
  return count;
}

function ratiosOf(rows: readonly SenderRow[]): Ratios {
  const rateOf = (name: string): number | undefined =>
    rows.find((row) => row.sink === 'nghttpd' && row.name === name)?.perSecond;
  const ours = rateOf('ours');
  return Object.fromEntries(
    Object.entries(RATIOS).map(([ratio, name]) => {
      const theirs = rateOf(name);
      return [ratio, ours === undefined || theirs === undefined ? null : ours / theirs];
    }),
  );
}
