/** Which faults befall whom: the shares come out, and a run can be repeated. */

import t from 'tap';
import { KIND_BEHAVIOUR } from '../../../../packages/simulator/src/faults/behaviour.ts';
import type { Fate, PushBook } from '../../../../packages/simulator/src/faults/fate.ts';
import { decideFate } from '../../../../packages/simulator/src/faults/fate.ts';
import { Scripts } from '../../../../packages/simulator/src/faults/scripts.ts';
import type { BehaviourChange, LiveBehaviour } from '../../../../packages/simulator/src/options.ts';
import { changeBehaviour } from '../../../../packages/simulator/src/options.ts';
import { ProviderRecord } from '../../../../packages/simulator/src/record/record.ts';
import { ConnectionMemory } from '../../../../packages/simulator/src/server/connection-memory.ts';
import { apnsToken } from '../peer.ts';

const TOKENS = Array.from({ length: 10_000 }, (_, index) => apnsToken(index));

const REQUEST = {
  method: 'POST',
  path: '',
  authority: '',
  fields: [],
  body: Buffer.alloc(0),
  connection: new ConnectionMemory(),
};

function bookWith(behaviour: BehaviourChange): PushBook {
  const live: LiveBehaviour = {
    current: changeBehaviour(KIND_BEHAVIOUR, behaviour),
    outage: 'none',
  };
  return { live, scripts: new Scripts(), record: new ProviderRecord() };
}

function count(fates: readonly Fate[], kind: Fate['kind']): number {
  return fates.filter((fate) => fate.kind === kind).length;
}

t.test('shares come out as they were asked for', (t) => {
  const shares = {
    gone: 0.1,
    badToken: 0.05,
    notFound: 0.02,
    throttled: 0.2,
    serverError: 0.1,
    badGateway: 0.04,
  };
  const book = bookWith({ shares, silentShare: 0.05, lostAnswerShare: 0.03 });
  const fates = TOKENS.map((token) => decideFate(book, token));
  const sticky = 0.17;
  for (const [kind, share] of [
    ['gone', 0.1],
    ['bad-token', 0.05],
    ['not-found', 0.02],
    // The fate of an attempt is drawn among those to which nothing sticks.
    ['throttled', 0.2 * (1 - sticky)],
    ['server-error', 0.1 * (1 - sticky)],
    ['silence', 0.05 * (1 - sticky)],
    ['lost-answer', 0.03 * (1 - sticky)],
    ['bad-gateway', 0.04 * (1 - sticky)],
  ] as const) {
    const found = count(fates, kind) / TOKENS.length;
    // Four standard deviations of a share of 0.2 among 10,000: 0.016.
    t.ok(Math.abs(found - share) < 0.016, `${kind}: ${found} of ${share}`);
  }
  t.end();
});

t.test('the seed decides, the order of requests does not', (t) => {
  const behaviour = { shares: { gone: 0.3, throttled: 0.3 }, seed: 1 };
  const kinds = (book: PushBook, tokens: readonly string[]) =>
    tokens.map((token) => decideFate(book, token).kind);
  const first = kinds(bookWith(behaviour), TOKENS);
  t.same(kinds(bookWith(behaviour), TOKENS.toReversed()).toReversed(), first);
  t.not(kinds(bookWith({ ...behaviour, seed: 2 }), TOKENS).join(), first.join());
  t.end();
});

t.test('each attempt of a token has its own draw, and the same in the next run', (t) => {
  const behaviour = { shares: { serverError: 0.3 }, silentShare: 0.2, lostAnswerShare: 0.2 };
  const run = () => {
    const book = bookWith(behaviour);
    return TOKENS.slice(0, 50).map((token) =>
      Array.from({ length: 6 }, () => {
        const { kind } = decideFate(book, token);
        if (kind === 'accepted' || kind === 'lost-answer') book.record.accept(token, REQUEST);
        else book.record.reject(kind, token, REQUEST);
        return kind;
      }).join(),
    );
  };
  t.same(run(), run());
  t.ok(new Set(run()).size > 40);
  t.end();
});

t.test('in an outage every push is answered 503, but for what a script says', (t) => {
  const book = bookWith({ shares: { gone: 1 } });
  book.live.outage = 'unavailable';
  const [first = '', second = ''] = TOKENS;
  t.same(decideFate(book, first), { kind: 'server-error', variant: 0.5 });
  book.scripts.write(second, { status: 200 });
  t.match(decideFate(book, second), { kind: 'scripted' });
  book.live.outage = 'none';
  t.same(decideFate(book, first), { kind: 'gone' });
  t.end();
});

t.test('a dead token stays dead, a throttled one may get through', (t) => {
  const book = bookWith({ shares: { gone: 0.2, throttled: 0.5 } });
  const first = TOKENS.map((token) => decideFate(book, token));
  for (const token of TOKENS) book.record.reject('TooManyRequests', token, REQUEST);
  const second = TOKENS.map((token) => decideFate(book, token));
  const isGone = (fate: Fate) => fate.kind === 'gone';
  t.same(second.map(isGone), first.map(isGone));
  const through = first.filter(
    (fate, index) => fate.kind === 'throttled' && second[index]?.kind === 'accepted',
  );
  t.ok(through.length > 1_000, `${through.length} of 4,000 got through at the second attempt`);
  t.end();
});
