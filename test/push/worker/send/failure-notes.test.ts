import t from 'tap';
import { ACCEPTED, EXPIRED, failedWith } from '../../../../src/push/worker/send/ending.ts';
import { FailureNotes } from '../../../../src/push/worker/send/failure-notes.ts';

t.test('only what failed is told, once, and of many the first hundred', (t) => {
  const notes = new FailureNotes();
  t.strictSame(notes.take(), {});
  notes.note(1, ACCEPTED);
  notes.note(2, EXPIRED);
  t.strictSame(notes.take(), {}, 'a report of what was accepted is as it was');
  notes.note(3, failedWith('BadDeviceToken'));
  t.strictSame(notes.take(), { failures: [{ ordinal: 3, reason: 'BadDeviceToken' }] });
  t.strictSame(notes.take(), {});
  for (let ordinal = 4; ordinal < 1_000; ordinal += 1) {
    notes.note(ordinal, failedWith('Unregistered'));
  }
  const { failures = [] } = notes.take();
  t.equal(failures.length, 99);
  t.strictSame(failures.at(-1), { ordinal: 102, reason: 'Unregistered' });
  notes.note(1_000, failedWith('Unregistered'));
  t.strictSame(notes.take(), {});
  t.end();
});
