import t from 'tap';
import { BATCH_PARTS_MAX, SmallParts } from '../../../src/push/dispatch/small-parts.ts';
import type { Claimable } from '../../../src/push/sql/ledger/list-claimable.ts';
import { aClaimable } from '../../support/a-notification.ts';

const part = (notificationId: string, more: Partial<Claimable> = {}): Claimable =>
  aClaimable({ notificationId, ...more });

function filled(count: number, more: Partial<Claimable> = {}, parts = new SmallParts()) {
  for (let n = 0; n < count; n += 1) parts.add(part(`${more.clientId ?? 1}/${n}`, more));
  return parts;
}

const [first] = filled(1).candidates();
if (first === undefined) throw new Error('no candidate');

t.test('few are spread over the slots, but a batch is worth its cost', (t) => {
  const sizes = (count: number, slots: number) =>
    filled(count)
      .take(first, slots)
      .map(({ length }) => length);
  t.strictSame(sizes(3, 10), [3]);
  t.strictSame(sizes(50, 10), [5, 5, 5, 5, 5, 5, 5, 5, 5, 5]);
  t.strictSame(sizes(1_000, 3), [BATCH_PARTS_MAX, BATCH_PARTS_MAX, BATCH_PARTS_MAX]);
  t.end();
});

t.test('a candidate asks for no more slots than it has batches', (t) => {
  const slotsMax = (parts: SmallParts) => parts.candidates().map((one) => one.slotsMax);
  t.strictSame(slotsMax(filled(1)), [1]);
  t.strictSame(slotsMax(filled(9)), [3]);
  const both = filled(9);
  both.add(part('1/later', { isScheduled: true }));
  t.strictSame(slotsMax(both), [4], 'of both lines');
  t.end();
});

t.test('what was taken is there no more, what is there is not added twice', (t) => {
  const parts = filled(10);
  parts.add(part('1/3'));
  parts.add(part('1/3', { isScheduled: true }));
  t.equal(parts.size, 10);
  const [batch] = parts.take(first, 1);
  t.strictSame(
    batch?.map(({ notificationId }) => notificationId),
    Array.from({ length: 10 }, (_, n) => `1/${n}`),
    'in the order in which they came',
  );
  t.equal(parts.size, 0);
  t.strictSame(parts.candidates(), []);
  t.strictSame(parts.take(first, 1), []);
  t.end();
});

t.test('what is pushed for the moment does not stand behind what was scheduled', (t) => {
  const parts = filled(500, { isScheduled: true });
  parts.add(part('urgent'));
  t.strictSame(
    parts.take(first, 2).map(([one, ...more]) => [one?.notificationId, more.length + 1]),
    [
      ['urgent', 1],
      ['1/0', BATCH_PARTS_MAX],
    ],
    'nor beside it',
  );
  for (let n = 0; n < 500; n += 1) parts.add(part(`moment/${n}`));
  const turns = Array.from({ length: 4 }, () => parts.take(first, 1)[0]?.[0]?.isScheduled);
  t.strictSame(turns, [false, true, false, true], 'the lines take turns');
  t.end();
});

t.test('urgent ones are a candidate of their own, with lines of their own', (t) => {
  const parts = filled(1_024, { isScheduled: true });
  parts.add(part('u1', { isScheduled: true, isUrgent: true }));
  parts.add(part('u2', { isUrgent: true }));
  const [other, urgent] = parts.candidates();
  t.match([other, urgent], [{ isUrgent: false }, { isUrgent: true }]);
  t.not(other?.notificationId, urgent?.notificationId);
  t.match(parts.fullQueues(), [{ isScheduled: true, isUrgent: false }], 'theirs are not full');
  if (urgent === undefined) throw new Error('no candidate');
  t.strictSame(
    parts.take(urgent, 4).map((batch) => batch.map(({ notificationId }) => notificationId)),
    [['u2'], ['u1']],
    'no other part beside them',
  );
  t.equal(parts.size, 1_024);
  t.end();
});

t.test('batches are of one app and platform', (t) => {
  const parts = filled(3);
  parts.add(part('other', { appId: 2 }));
  parts.add(part('android', { platformId: 15 }));
  t.strictSame(
    parts
      .candidates()
      .flatMap((candidate) => parts.take(candidate, 1).map((batch) => batch.length)),
    [3, 1, 1],
  );
  t.end();
});

t.test('a line of which enough is here is full, the other one of its client is not', (t) => {
  const parts = filled(1_023, { isScheduled: true });
  parts.add(part('urgent'));
  t.strictSame(parts.fullQueues(), []);
  parts.add(part('one more', { isScheduled: true }));
  t.strictSame(parts.fullQueues(), [
    { clientId: 1, isScheduled: true, isUrgent: false, parts: 1_024 },
  ]);
  t.end();
});

t.test('all lines together are bounded', (t) => {
  const parts = new SmallParts();
  for (let clientId = 1; clientId <= 100; clientId += 1) {
    filled(300, { clientId, appId: clientId }, parts);
  }
  t.equal(parts.size, 16_384);
  t.equal(parts.fullQueues().length, 54, 'each has its share of the room');
  t.end();
});
