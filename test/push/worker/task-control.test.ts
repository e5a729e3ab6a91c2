import t from 'tap';
import { TaskControl } from '../../../src/push/worker/task-control.ts';

const makeControl = () => {
  const control = new TaskControl({ isCancelled: false, fault: null, hasDelivered: false });
  let changes = 0;
  control.changed.on(() => {
    changes += 1;
  });
  return { control, changes: () => changes };
};

t.test('paused, by a reply or between two: it stops where it is, whatever it was asked', (t) => {
  const { control, changes } = makeControl();
  control.giveBack(2_000, null);
  control.hearState('PAUSED', 1_000);
  t.equal(control.giveBackBeforeMs, 1_000, 'sooner than it had to');
  control.hearState('PAUSED', 1_500);
  control.hearState('RUNNING', 1_600);
  t.equal(control.giveBackBeforeMs, 1_000, 'what was ordered before stays');
  t.equal(changes(), 4);
  const { control: other } = makeControl();
  other.hear(
    { kind: 'recorded', sentAtMs: 0, state: 'PAUSED', fault: null, hasDelivered: false },
    7,
  );
  t.equal(other.giveBackBeforeMs, 7);
  t.equal(other.abandonAtMs, null, 'answers to what is sent are waited for');
  t.end();
});

t.test('cancelled, the rest is counted', (t) => {
  const { control, changes } = makeControl();
  control.hearState('CANCELLED', 1_000);
  t.ok(control.isCancelled);
  t.equal(control.giveBackBeforeMs, null);
  t.equal(changes(), 1);
  t.end();
});
