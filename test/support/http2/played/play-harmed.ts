/**
 * Plays a random conversation whose server's frames come to harm on their way, with an owner who
 * sends, cancels and closes from inside of the answers. Whatever comes: nothing is thrown, each
 * request has one end, what was not harmed ends as its server meant or not at all, and nothing
 * grows without bounds.
 */

import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import type { RequestForm } from '../../../../packages/http2/src/client/request-form.ts';
import type { Pair } from '../blocks.ts';
import type { Meant } from '../meant.ts';
import { meant } from '../meant.ts';
import type { End, Sent } from '../recorded-client.ts';
import { RecordedClient } from '../recorded-client.ts';
import { SlowSocket } from '../slow-socket.ts';
import type { ExpectedEnd } from './answer-model.ts';
import { AnswerModel } from './answer-model.ts';
import { handedStreams } from './handed-streams.ts';
import { LawfulServer } from './lawful-server.ts';
import { Mutator } from './mutation.ts';
import type { HarmedPlan, Step } from './plan.ts';
import { Random } from './random.ts';
import { makeForms, makeValue } from './requests.ts';

/** The result of one request. */
interface Entry {
  readonly sent: Sent;
  readonly model: AnswerModel;
  /** Every `:status` that its server has sent. */
  readonly statuses: Set<number>;
  /** How the connection was when it ended. */
  endedWhile: 'open' | 'draining' | 'closed' | null;
}

/** The output's own limit, and what one turn may put on top. */
const OCTETS_AT_SOCKET_MAX = 2 ** 20 + 2 ** 18;

export async function playHarmed(plan: HarmedPlan): Promise<void> {
  const game = new HarmedGame(plan);
  try {
    await game.greet();
    for (const step of plan.steps) await game.step(step);
    await game.end();
  } finally {
    game.stop();
  }
}

class HarmedGame {
  readonly #plan: HarmedPlan;
  readonly #socket = new SlowSocket();
  readonly #client: RecordedClient;
  readonly #server: LawfulServer;
  readonly #mutator: Mutator;
  readonly #forms: readonly RequestForm[];
  readonly #meant = new Map<number, Meant>();
  readonly #entries = new Map<number, Entry>();
  #wire = Buffer.alloc(0);

  constructor(plan: HarmedPlan) {
    const { seed, streamsMax, bodyOctetsMax, harmRate } = plan;
    const random = new Random(seed);
    this.#plan = plan;
    this.#forms = makeForms(random);
    this.#client = new RecordedClient(this.#socket, { streamsMax, bodyOctetsMax });
    this.#server = new LawfulServer(random, this.#meant, true);
    this.#mutator = new Mutator(random, harmRate);
  }

  /** The greeting arrives as it was sent, or there would be nothing to play. */
  async greet(): Promise<void> {
    await this.settle();
    this.#deliverAll(new Mutator(new Random(0), 0));
    await this.settle();
  }

  async step({ kind, seed }: Step): Promise<void> {
    const random = new Random(seed);
    switch (kind) {
      case 'request':
        this.#request(random);
        break;
      case 'cancel':
        this.#cancel(random);
        break;
      case 'deliver':
        this.#pass(this.#mutator);
        this.#deliver(random.pick([1, 9, random.between(1, 40), random.length(100_000)]));
        break;
      case 'deliverAll':
        this.#deliverAll(this.#mutator);
        break;
      case 'hold':
        this.#socket.hold();
        break;
      case 'release':
        this.#socket.release();
        break;
      case 'acknowledge':
        this.#server.acknowledge();
        break;
      default:
        this.#server[kind](random);
        break;
    }
    await this.settle();
  }

  async settle(): Promise<void> {
    await turn();
    this.#server.log.isStrict = !this.#mutator.isHarmed;
    this.#server.hear(this.#socket.takeAll());
    assert.ok(this.#socket.writableLength <= OCTETS_AT_SOCKET_MAX, 'octets at the socket');
  }

  async end(): Promise<void> {
    if (this.#plan.isPlayedOut) {
      this.#socket.release();
      this.#deliverAll(this.#mutator);
      await this.settle();
    }
    const handed = handedStreams(this.#socket);
    this.#client.connection.destroy('over');
    await turn();
    this.#client.finish();
    assert.match(this.#client.events.at(-1) ?? '', /^closed/, 'nothing after the farewell');
    for (const [streamId, entry] of this.#entries) {
      const [end] = this.#client.ends.get(streamId)?.ends ?? [];
      if (end !== undefined) this.#checkEnd(entry, end, handed);
    }
  }

  stop(): void {
    this.#client.connection.destroy('over');
    this.#socket.destroy();
  }

  #request(random: Random): void {
    if (this.#client.connection.capacity === 0) return;
    const form = random.pick(this.#forms);
    const value = makeValue(random, form);
    const sent = this.#client.sendNow(form, value, () => this.#ended(sent.streamId, random));
    this.#meant.set(sent.streamId, meant(form, value));
    this.#entries.set(sent.streamId, {
      sent,
      model: new AnswerModel(this.#plan.bodyOctetsMax),
      statuses: new Set(),
      endedWhile: null,
    });
  }

  /** The owner, from inside of an end. */
  #ended(streamId: number, random: Random): void {
    const entry = this.#entries.get(streamId);
    const { connection, events } = this.#client;
    if (entry !== undefined) {
      const isDraining = events.some((event) => event.startsWith('draining'));
      entry.endedWhile = isDraining ? 'draining' : 'open';
      if (connection.isClosed) entry.endedWhile = 'closed';
    }
    if (random.chance(0.3)) this.#request(random);
    if (random.chance(0.2)) this.#cancel(random);
    if (random.chance(0.02)) connection.destroy('enough');
  }

  #cancel(random: Random): void {
    const entry = random.pickIfAny([...this.#entries.values()]);
    if (entry !== undefined) this.#client.cancel(entry.sent);
  }

  #pass(mutator: Mutator): void {
    for (const { frames, effect } of this.#server.outgoing.splice(0)) {
      this.#wire = Buffer.concat([this.#wire, mutator.pass(frames)]);
      if (effect.kind !== 'act') continue;
      const entry = this.#entries.get(effect.streamId);
      entry?.model.receive(effect.act);
      if (effect.act.kind === 'fields') entry?.statuses.add(statusOf(effect.act.fields));
    }
  }

  #deliverAll(mutator: Mutator): void {
    this.#pass(mutator);
    this.#deliver(this.#wire.length);
  }

  #deliver(octets: number): void {
    const chunk = Buffer.from(this.#wire.subarray(0, octets));
    this.#wire = this.#wire.subarray(chunk.length);
    this.#socket.deliver(chunk);
    chunk.fill(0xee);
  }

  #checkEnd(entry: Entry, end: End, handed: ReadonlySet<number>): void {
    const { sent, model, statuses, endedWhile } = entry;
    const { streamId } = sent;
    const harm = this.#mutator.harmOf(streamId);
    const text = `stream ${streamId}, harm: ${harm}, while ${endedWhile}: ${JSON.stringify(end)}`;
    if (end.kind === 'answered') {
      assert.ok(end.body.length <= this.#plan.bodyOctetsMax, text);
      if (harm === 'none') assert.deepEqual(end, model.end, text);
      if (harm === 'order') assert.ok(statuses.has(end.status), text);
      return;
    }
    assert.notEqual(end.reason, 'drained', text);
    if (harm === 'content') return;
    assert.ok(end.status === null || statuses.has(end.status), text);
    if (harm === 'order') return;
    // SETTINGS that were lost or made up change how much a WINDOW_UPDATE may be (6.9.1).
    const isByWindow =
      this.#mutator.harmOf(0) !== 'none' && end.reason.startsWith('FLOW_CONTROL_ERROR');
    if (endedWhile === 'open' && !isByWindow) assert.equal(model.end?.kind, 'failed', text);
    if (end.isUnprocessed && endedWhile !== 'draining' && !isUnprocessed(model.end)) {
      assert.ok(!handed.has(streamId) || this.#wasToldGoodbye, text);
    }
  }

  /** A GOAWAY, made up perhaps, says which requests were never looked at. */
  get #wasToldGoodbye(): boolean {
    return this.#client.events.some((event) => event.startsWith('draining'));
  }
}

const isUnprocessed = (end: ExpectedEnd | null): boolean =>
  end?.kind === 'failed' && end.isUnprocessed;

const statusOf = (fields: readonly Pair[]): number =>
  Number(fields.find(([name]) => name === ':status')?.[1]);
