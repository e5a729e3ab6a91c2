import fc from 'fast-check';
import t from 'tap';
import { BLOCK_DEVICES, blockOf, GROUP_BLOCKS } from '../../../../src/domain/device.ts';
import { Blocks } from '../../../../src/push/worker/chunk/blocks.ts';
import type { Ending } from '../../../../src/push/worker/send/ending.ts';
import {
  ACCEPTED,
  CANCELLED,
  failedWith,
  outcomeUnknown,
} from '../../../../src/push/worker/send/ending.ts';

const FIRST_ORDINAL = 3 * 8_192;

const retryThat = (mayCountAsUnsent: boolean): Ending => ({
  kind: 'retry',
  reason: mayCountAsUnsent ? 'Down' : 'no answer in time',
  dueInMs: 1_000,
  attempts: 1,
  mayCountAsUnsent,
  isUncertain: !mayCountAsUnsent,
});

/** The provider failed for everybody: the send may be forgotten. */
const DOWN = retryThat(true);
const UNCERTAIN = retryThat(false);
const LOST = outcomeUnknown('the process that sent it was lost');

const isKept = (ending: Ending): boolean => !(ending.kind === 'retry' && ending.mayCountAsUnsent);
const bit = (block: number): bigint => 1n << BigInt(block);
const maskOf = (blocks: Iterable<number>): bigint => {
  let mask = 0n;
  for (const block of blocks) mask |= bit(block);
  return mask;
};
const ALL = maskOf(Array.from({ length: GROUP_BLOCKS }, (_, block) => block));

/** The beginning of a chunk. */
interface Start {
  /** Blocks with devices, and in which places of the block they are. */
  readonly places: ReadonlyMap<number, readonly number[]>;
  readonly done: bigint;
  readonly inDoubt: bigint;
  readonly known: number;
}

const offsetsOf = ({ places }: Start): readonly number[] =>
  [...places]
    .flatMap(([block, within]) => within.map((place) => block * BLOCK_DEVICES + place))
    .sort((a, b) => a - b);

/** The rules in plain sets: what became of each device, and which blocks are to be reported. */
class Model {
  readonly offsets: readonly number[];
  readonly known: readonly number[];
  /** Positions that may be sent, in order. */
  readonly toSend: number[];
  readonly sentAtMs = new Map<number, number>();
  readonly endings = new Map<number, Ending>();
  readonly finished: Set<number>;
  /** Complete, and all of it may be forgotten. */
  readonly doubtful = new Set<number>();
  readonly start: Start;

  constructor(start: Start) {
    this.start = start;
    this.offsets = offsetsOf(start);
    this.known = Array.from({ length: start.known }, (_, block) => block);
    const isOpen = (block: number): boolean => !this.isDone(block);
    const withDevices = new Set(this.offsets.map(blockOf));
    this.finished = new Set(this.known.filter((block) => isOpen(block) && !withDevices.has(block)));
    const positions = this.offsets.map((_, position) => position);
    this.toSend = positions.filter((at) => isOpen(this.blockAt(at)) && !this.isInDoubt(at));
    for (const at of positions) {
      if (isOpen(this.blockAt(at)) && this.isInDoubt(at)) this.settle(at, LOST);
    }
  }

  isDone(block: number): boolean {
    return (this.start.done & bit(block)) !== 0n;
  }

  blockAt(position: number): number {
    return blockOf(this.offsets[position] ?? 0);
  }

  /** The endings of those devices of a block that have one. */
  endingsIn(block: number): readonly Ending[] {
    return [...this.endings].filter(([at]) => this.blockAt(at) === block).map(([, end]) => end);
  }

  hasKept(block: number): boolean {
    return this.endingsIn(block).some(isKept);
  }

  settle(position: number, ending: Ending): void {
    this.endings.set(position, ending);
    const block = this.blockAt(position);
    const isKeptBlock = this.hasKept(block);
    if (isKeptBlock) this.keepDoubtful();
    const devices = this.offsets.filter((offset) => blockOf(offset) === block);
    if (this.endingsIn(block).length < devices.length) return;
    (isKeptBlock ? this.finished : this.doubtful).add(block);
  }

  keepDoubtful(): void {
    for (const block of this.doubtful) this.finished.add(block);
    this.doubtful.clear();
  }

  /** The sums that a report of these blocks must have. */
  sumOf(blocks: ReadonlySet<number>) {
    const positions = [...this.endings.keys()].filter((at) => blocks.has(this.blockAt(at)));
    const endings = positions.map((at) => this.endings.get(at));
    const count = (kind: string): number => endings.filter((end) => end?.kind === kind).length;
    const sent = positions.map((at) => this.sentAtMs.get(at)).filter((ms) => ms !== undefined);
    return {
      counts: {
        total: positions.length,
        delivered: count('delivered'),
        failed: count('failed'),
        skipped: 0,
        expired: 0,
        cancelled: count('cancelled'),
      },
      retried: positions
        .filter((at) => this.endings.get(at)?.kind === 'retry')
        .map((at) => FIRST_ORDINAL + (this.offsets[at] ?? 0))
        .sort((a, b) => a - b),
      sends: sent.length,
      sentFromMs: sent.length === 0 ? null : Math.min(...sent),
      sentToMs: sent.length === 0 ? null : Math.max(...sent),
    };
  }

  private isInDoubt(position: number): boolean {
    return (this.start.inDoubt & bit(this.blockAt(position))) !== 0n;
  }
}

/** The blocks under test beside the model; every step looks whether both agree. */
class Pair {
  readonly blocks: Blocks;
  readonly model: Model;
  private nowMs = 1_000;
  /** Blocks that were reported; none is ever reported twice. */
  private readonly told = new Set<number>();

  constructor(start: Start) {
    this.model = new Model(start);
    // Masks come from PostgreSQL as signed numbers.
    const [done, inDoubt] = [start.done, start.inDoubt].map((mask) => BigInt.asIntN(64, mask));
    const offsets = Uint16Array.from(this.model.offsets);
    this.blocks = new Blocks(offsets, FIRST_ORDINAL, done ?? 0n, inDoubt, start.known);
    this.blocks.settleInDoubt(LOST);
    this.look();
  }

  /** Hands the next device over. */
  send(): void {
    const position = this.blocks.next;
    if (position === null) return;
    this.nowMs += 1;
    this.blocks.advance(this.nowMs);
    this.model.sentAtMs.set(position, this.nowMs);
    this.look();
  }

  /** One of those under way is answered. */
  answer(which: number, ending: Ending): void {
    const underWay = [...this.model.sentAtMs.keys()].filter((at) => !this.model.endings.has(at));
    const position = underWay[which % Math.max(1, underWay.length)];
    if (position === undefined) return;
    this.blocks.settle(position, ending);
    this.model.settle(position, ending);
    this.look();
  }

  answerAll(ending: Ending): void {
    while (this.model.endings.size < this.endedOrSent()) this.answer(0, ending);
  }

  /** A report has exactly the blocks that have finished since the last one, with their sums. */
  report(): void {
    const taken = this.blocks.take();
    const expected = new Set([...this.model.finished].filter((block) => !this.told.has(block)));
    for (const block of expected) this.told.add(block);
    if (expected.size === 0) {
      same(taken, null);
      return;
    }
    if (taken === null) throw new Error(`blocks ${[...expected]} were not reported`);
    same(taken.blocks, BigInt.asIntN(64, maskOf(expected)), 'blocks');
    const { counts, retries, sends, sentFromMs, sentToMs } = taken.tally;
    const retried = retries.map(({ ordinal }) => ordinal).sort((a, b) => a - b);
    same({ counts, retried, sends, sentFromMs, sentToMs }, this.model.sumOf(expected));
  }

  /** All that was reported, as the ledger's mask has it in the end. */
  get ledger(): bigint {
    return maskOf(this.told) | this.model.start.done;
  }

  look(): void {
    const { model, blocks } = this;
    const left = model.toSend.filter((at) => !model.sentAtMs.has(at) && !model.endings.has(at));
    same(blocks.next, left[0] ?? null, 'next');
    same(blocks.hasDoubtful, model.doubtful.size > 0, 'hasDoubtful');
    const unreported = [...model.finished].some((block) => !this.told.has(block));
    same(blocks.hasFinished, unreported, 'hasFinished');
    const isOpen = (at: number) => !model.isDone(model.blockAt(at));
    const open = model.offsets.map((_, at) => at).filter(isOpen);
    const unfinished = open.filter((at) => !model.finished.has(model.blockAt(at)));
    same(blocks.openDevices, unfinished.length, 'openDevices');
    const next = left[0];
    const begun = [...model.sentAtMs.keys()].map((at) => model.blockAt(at));
    const isHalfSent = next !== undefined && begun.includes(model.blockAt(next));
    same(blocks.isAtBoundary, !isHalfSent, 'isAtBoundary');
  }

  private endedOrSent(): number {
    return new Set([...this.model.sentAtMs.keys(), ...this.model.endings.keys()]).size;
  }
}

/** Throws, for fast-check to find the shortest way to it. */
function same(found: unknown, wanted: unknown, what = 'report'): void {
  const [one, other] = [found, wanted].map((value) =>
    JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? `${inner}n` : inner)),
  );
  if (one !== other) throw new Error(`${what}: ${one}, not ${other}`);
}

const block = fc.oneof(fc.constantFrom(0, 1, 62, 63), fc.integer({ min: 0, max: 63 }));
const mask = fc.uniqueArray(block, { maxLength: 3 }).map(maskOf);
const start: fc.Arbitrary<Start> = fc
  .record({
    places: fc.uniqueArray(
      fc.tuple(
        block,
        fc.uniqueArray(fc.integer({ min: 0, max: BLOCK_DEVICES - 1 }), {
          minLength: 1,
          maxLength: 4,
        }),
      ),
      { maxLength: 6, selector: ([number]) => number },
    ),
    done: mask,
    inDoubt: mask,
    known: fc.oneof(fc.constant(GROUP_BLOCKS), fc.integer({ min: 1, max: GROUP_BLOCKS })),
  })
  .map(({ places, ...others }) => ({
    ...others,
    places: new Map(places.filter(([number]) => number < others.known)),
  }));

const ending = fc.constantFrom<Ending>(ACCEPTED, failedWith('Unregistered'), DOWN, DOWN, UNCERTAIN);
type Step = (pair: Pair) => void;
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.constant<Step>((pair) => pair.send()),
  fc.constant<Step>((pair) => pair.send()),
  fc.tuple(fc.nat(30), ending).map<Step>(
    ([which, end]) =>
      (pair) =>
        pair.answer(which, end),
  ),
  fc.constant<Step>((pair) => pair.report()),
);
const steps = fc.array(step, { maxLength: 60 });

/** Any course of sends, answers and reports, and then one end. */
const assertAfterAnyCourse = (end: (pair: Pair) => void): void =>
  fc.assert(
    fc.property(start, steps, (start, steps) => {
      const pair = new Pair(start);
      for (const take of steps) take(pair);
      end(pair);
    }),
    { numRuns: 1_000 },
  );

t.test('sent to its end: every known block is reported once, with the sums of its devices', (t) => {
  assertAfterAnyCourse((pair) => {
    while (pair.blocks.next !== null) pair.send();
    pair.answerAll(DOWN);
    pair.blocks.keepDoubtful();
    pair.model.keepDoubtful();
    pair.report();
    same(pair.ledger, maskOf(pair.model.known) | pair.model.start.done, 'ledger');
    same(pair.model.sentAtMs.size, pair.model.toSend.length, 'each is sent once');
  });
  t.pass('holds for any course');
  t.end();
});

t.test('stopped for good: what is not sent ends so, and every known block is reported', (t) => {
  assertAfterAnyCourse((pair) => {
    pair.answerAll(ACCEPTED);
    const { blocks, model } = pair;
    const unsent = model.toSend.filter((at) => !model.sentAtMs.has(at));
    blocks.settleRest(CANCELLED);
    for (const position of unsent) model.settle(position, CANCELLED);
    model.keepDoubtful();
    pair.report();
    same(pair.ledger, maskOf(model.known) | model.start.done, 'ledger');
  });
  t.pass('holds for any course');
  t.end();
});

t.test('given back: what must not be forgotten is reported, and nothing else', (t) => {
  const NOT_SENT = retryThat(false);
  assertAfterAnyCourse((pair) => {
    pair.answerAll(DOWN);
    const { blocks, model } = pair;
    const { next } = blocks;
    const half = next === null ? null : model.blockAt(next);
    const isHalfKept = half !== null && model.hasKept(half);
    const unsent = model.toSend.filter(
      (at) => model.blockAt(at) === half && !model.sentAtMs.has(at),
    );
    blocks.giveBack(NOT_SENT);
    // Left undone, the devices of the block that were sent would get the push twice.
    if (isHalfKept) for (const position of unsent) model.settle(position, NOT_SENT);
    pair.report();
    for (const block of model.known) {
      const isReported = (pair.ledger & bit(block)) !== 0n;
      if (!isReported) same(model.hasKept(block), false, `block ${block} is sent again whole`);
    }
    same(blocks.hasDoubtful, false, 'hasDoubtful');
  });
  t.pass('holds for any course');
  t.end();
});

t.test('blocks in doubt are kept when a later device shows that the provider works', (t) => {
  const blocks = new Blocks(Uint16Array.of(0, 128), FIRST_ORDINAL, 0n);
  blocks.advance(1);
  blocks.settle(0, DOWN);
  t.ok(blocks.hasDoubtful);
  blocks.take();
  blocks.advance(2);
  blocks.settle(1, ACCEPTED);
  t.notOk(blocks.hasDoubtful);
  t.match(blocks.take(), { blocks: 3n, tally: { counts: { total: 2, delivered: 1 } } });
  t.end();
});

t.test('a device ends once', (t) => {
  const blocks = new Blocks(Uint16Array.of(5), FIRST_ORDINAL, 0n);
  blocks.advance(1);
  blocks.settle(0, ACCEPTED);
  t.throws(() => blocks.settle(0, ACCEPTED), {
    message: `device ${FIRST_ORDINAL + 5} ended twice`,
  });
  t.end();
});

t.test('what is announced ahead: blocks from the next device on, but none that is closed', (t) => {
  const blocks = new Blocks(Uint16Array.of(130, 300, 8_191), FIRST_ORDINAL, bit(3), bit(4));
  t.equal(blocks.ahead(4), bit(1) | bit(2));
  t.ok(blocks.isNextIn(bit(1)));
  t.notOk(blocks.isNextIn(bit(2)));
  blocks.advance(1);
  blocks.advance(1);
  t.equal(blocks.ahead(8), bit(63), 'never beyond the last block');
  blocks.advance(1);
  t.equal(blocks.ahead(8), 0n, 'nothing is next');
  t.ok(blocks.isNextIn(0n), 'and nothing is waited for');
  t.end();
});

t.test('blocks of which the devices are not known are told apart', (t) => {
  t.equal(new Blocks(new Uint16Array(), 0, 0n).unknownOf(ALL), 0n);
  const part = new Blocks(Uint16Array.of(0), FIRST_ORDINAL, 0n, 0n, 2);
  t.equal(part.unknownOf(ALL), ALL & ~3n);
  t.equal(part.take()?.blocks, bit(1), 'empty, and known');
  t.end();
});

t.test('devices that are gone are skipped; what is not sent to is the rest', (t) => {
  const blocksOf = () => {
    const offsets = Uint16Array.from([0, 1, BLOCK_DEVICES, BLOCK_DEVICES + 1]);
    return new Blocks(offsets, FIRST_ORDINAL, 0n, 0n, GROUP_BLOCKS, true, (at) => at !== 1);
  };
  const sent = blocksOf();
  t.equal(sent.next, 1);
  sent.advance(5);
  t.equal(sent.next, null);
  sent.settle(1, ACCEPTED);
  const counts = { total: 4, delivered: 1, skipped: 3, cancelled: 0 };
  t.match(sent.take(), { tally: { counts }, reached: { devices: 1, words: '0001' }, rest: null });
  const cancelled = blocksOf();
  cancelled.settleRest(CANCELLED);
  t.match(cancelled.take(), {
    tally: { counts: { ...counts, delivered: 0, cancelled: 1 } },
    reached: { devices: 1, words: '0001' },
    rest: { devices: 1, words: '0001' },
  });
  t.end();
});

t.test(
  'devices that are gone do not show that the provider works, or that a block is begun',
  (t) => {
    const offsets = Uint16Array.from([0, 1, BLOCK_DEVICES]);
    const isGone = (at: number) => at !== 1;
    const blocks = new Blocks(offsets, FIRST_ORDINAL, 0n, 0n, GROUP_BLOCKS, false, isGone);
    t.equal(blocks.next, 1);
    t.ok(blocks.isAtBoundary, 'nothing of the block is sent');
    blocks.take();
    blocks.advance(5);
    blocks.settle(1, DOWN);
    t.ok(blocks.hasDoubtful);
    t.notOk((blocks.take()?.blocks ?? 0n) & 1n, 'it may be forgotten');
    blocks.keepDoubtful();
    const counts = { total: 2, skipped: 1 };
    t.match(blocks.take(), {
      blocks: 1n,
      tally: { counts, retries: [{ ordinal: FIRST_ORDINAL + 1 }] },
    });
    const alone = new Blocks(Uint16Array.of(0), FIRST_ORDINAL, 0n, 0n, 1, false, () => true);
    t.match(alone.take(), { blocks: 1n, tally: { counts: { total: 1, skipped: 1 } } }, 'kept');
    t.end();
  },
);
