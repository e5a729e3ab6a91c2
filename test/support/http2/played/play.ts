/**
 * Plays a random conversation between our client and a lawful server, and holds both to what must
 * be: after each chunk every request is where the model says, the client's octets are lawful, and
 * content goes as far as the windows let it.
 */

import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import type { RequestForm } from '../../../../packages/http2/src/client/request-form.ts';
import { frame, octetsOf, Type } from '../frames.ts';
import type { Meant } from '../meant.ts';
import { meant } from '../meant.ts';
import type { End, Sent } from '../recorded-client.ts';
import { RecordedClient } from '../recorded-client.ts';
import { SlowSocket } from '../slow-socket.ts';
import type { ExpectedEnd } from './answer-model.ts';
import { ConnectionModel } from './connection-model.ts';
import { handedStreams } from './handed-streams.ts';
import type { Effect } from './lawful-server.ts';
import { LawfulServer } from './lawful-server.ts';
import type { Plan, Step } from './plan.ts';
import { Random } from './random.ts';
import { makeForms, makeValue } from './requests.ts';

/** Rounds of "say all, deliver all" until nothing is left to say; windows open once a round. */
const ROUNDS_MAX = 30;

export async function play(plan: Plan): Promise<void> {
  const game = new Game(plan);
  try {
    await game.settle();
    for (const step of plan.steps) await game.step(step);
    if (plan.isPlayedOut) await game.playOut();
    await game.end();
  } finally {
    game.stop();
  }
}

class Game {
  readonly #plan: Plan;
  readonly #socket = new SlowSocket();
  readonly #client: RecordedClient;
  readonly #server: LawfulServer;
  readonly #model: ConnectionModel;
  readonly #forms: readonly RequestForm[];
  readonly #meant = new Map<number, Meant>();
  readonly #sent: Sent[] = [];
  /** Octets on their way, and the positions after which something takes effect. */
  #wire = Buffer.alloc(0);
  #effects: { readonly behind: number; readonly effect: Effect }[] = [];

  constructor(plan: Plan) {
    const { seed, streamsMax, bodyOctetsMax } = plan;
    const random = new Random(seed);
    this.#plan = plan;
    this.#forms = makeForms(random);
    this.#client = new RecordedClient(this.#socket, { streamsMax, bodyOctetsMax });
    this.#server = new LawfulServer(random, this.#meant, false);
    this.#model = new ConnectionModel(streamsMax, bodyOctetsMax);
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
        this.#deliver(random.pick([1, 9, random.between(1, 40), random.length(100_000)]));
        break;
      case 'deliverAll':
        this.#deliver(Number.POSITIVE_INFINITY);
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

  /** Lets everything happen that is to happen, and looks at it. */
  async settle(): Promise<void> {
    await turn();
    this.#server.hear(this.#socket.takeAll());
    this.#check();
  }

  async playOut(): Promise<void> {
    const random = new Random(this.#plan.seed);
    this.#socket.release();
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      await this.settle();
      this.#server.acknowledge();
      let hasActed = false;
      while (this.#server.act(random)) hasActed = true;
      this.#server.openWindow(random);
      this.#deliver(Number.POSITIVE_INFINITY);
      if (!hasActed) break;
    }
    await this.settle();
    if (!this.#model.isClosed) this.#checkProgress();
  }

  /** The connection ends, and every request with it. */
  async end(): Promise<void> {
    const open = this.#model.openIds;
    const handed = handedStreams(this.#socket);
    this.#ending();
    await turn();
    if (this.#plan.ending !== 'drain') this.#checkLost(open, handed);
    this.#socket.release();
    await turn();
    this.#client.finish();
  }

  stop(): void {
    this.#client.connection.destroy('over');
    this.#socket.destroy();
  }

  #request(random: Random): void {
    if (this.#client.connection.capacity === 0) return;
    const form = random.pick(this.#forms);
    const value = makeValue(random, form);
    const sent = this.#client.sendNow(form, value);
    this.#sent.push(sent);
    this.#meant.set(sent.streamId, meant(form, value));
    this.#model.sent(sent.streamId);
  }

  #cancel(random: Random): void {
    const sent = random.pickIfAny(this.#sent);
    if (sent === undefined) return;
    const isOpen = this.#model.openIds.includes(sent.streamId);
    this.#client.cancel(sent);
    if (isOpen) this.#model.cancelled(sent.streamId);
  }

  #deliver(octets: number): void {
    for (const { frames, effect } of this.#server.outgoing.splice(0)) {
      this.#wire = Buffer.concat([this.#wire, ...frames.map((one) => octetsOf(one))]);
      this.#effects.push({ behind: this.#wire.length, effect });
    }
    const chunk = Buffer.from(this.#wire.subarray(0, octets));
    if (chunk.length === 0) return;
    this.#wire = this.#wire.subarray(chunk.length);
    this.#socket.deliver(chunk);
    // A reader that keeps a part of it must copy it.
    chunk.fill(0xee);
    const came = this.#effects.filter(({ behind }) => behind <= chunk.length);
    this.#effects = this.#effects
      .slice(came.length)
      .map(({ behind, effect }) => ({ behind: behind - chunk.length, effect }));
    for (const { effect } of came) this.#model.receive(effect);
    this.#model.closeIfDrained();
  }

  #ending(): void {
    switch (this.#plan.ending) {
      case 'destroy':
        this.#client.connection.destroy('no reason');
        return;
      case 'end':
        this.#socket.push(null);
        return;
      case 'cut':
        this.#socket.destroy(new Error('cut'));
        return;
      case 'drain':
        this.#client.connection.drain();
        this.#model.isDraining = true;
        this.#model.closeIfDrained();
        this.#check();
        return;
      case 'error':
        // Inside of whatever is on its way, which is the error, or a length that is none.
        this.#socket.deliver(this.#wire);
        this.#socket.deliver(octetsOf(frame(Type.PING, 0, 0, 'x')));
        return;
    }
  }

  #check(): void {
    const { connection, ends, events } = this.#client;
    const model = this.#model;
    assert.equal(connection.isClosed, model.isClosed, events.join(', '));
    if (!this.#socket.isHeld) {
      const { contentOctets } = this.#server.log;
      assert.equal(connection.capacity, model.capacity(contentOctets), 'capacity');
    }
    for (const [streamId, { ends: ended, isCancelled }] of ends) {
      if (isCancelled) assert.deepEqual(ended, []);
      else checkEnd(streamId, ended[0] ?? null, model.endOf(streamId));
    }
    assert.ok(this.#socket.writableLength < 2 ** 21, 'octets at the socket');
    const { goAwayCode } = this.#server.log;
    if (goAwayCode !== null) assert.ok(model.isClosed && goAwayCode === 0, `GOAWAY ${goAwayCode}`);
  }

  /** No request waits without a reason. */
  #checkProgress(): void {
    const { log } = this.#server;
    assert.ok(log.isAllAcknowledged, 'SETTINGS or PING without an answer');
    assert.ok(log.isAtBorder, 'half a frame');
    assert.ok(log.sendWindow > 0, 'the window of the connection is not opened again');
    for (const id of this.#model.openIds) {
      const stream = log.streams.get(id);
      assert.ok(stream !== undefined, `stream ${id} was not sent`);
      const mayGoOn = log.window > 0 && stream.window > 0;
      assert.ok(stream.isWhole || !mayGoOn, `stream ${id} could go on`);
      assert.ok(stream.sendWindow > 0, `the window of ${id} is not opened again`);
    }
  }

  /**
   * All that were open have failed, and what was never handed over is known to be unprocessed: no
   * more, no less.
   */
  #checkLost(open: readonly number[], handed: ReadonlySet<number>): void {
    for (const id of open) {
      const [end] = this.#client.ends.get(id)?.ends ?? [];
      assert.ok(end !== undefined, `stream ${id} was lost without an end`);
      if (this.#plan.ending === 'error' && this.#wire.length > 0) continue;
      const isUnprocessed = id > this.#model.lastStreamId || !handed.has(id);
      assert.ok(end.kind === 'failed');
      assert.equal(end.isUnprocessed, isUnprocessed, `stream ${id}: ${end.reason}`);
    }
  }
}

/** A failure's words are not foretold. */
function checkEnd(streamId: number, end: End | null, expected: ExpectedEnd | null): void {
  if (end?.kind !== 'failed') {
    assert.deepEqual(end, expected, `stream ${streamId}`);
    return;
  }
  const { kind, isUnprocessed, status, reason } = end;
  const text = `stream ${streamId}: ${reason}, not ${JSON.stringify(expected)}`;
  assert.deepEqual({ kind, isUnprocessed, status }, expected, text);
}
