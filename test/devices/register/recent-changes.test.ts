import t from 'tap';
import { RecentChanges } from '../../../src/devices/register/recent-changes.ts';

t.test('changes are likely until three batches in a row had none', (t) => {
  const changes = new RecentChanges();
  t.ok(changes.areLikely, 'of the first batch nothing is known');
  changes.note(false);
  changes.note(false);
  t.ok(changes.areLikely);
  changes.note(false);
  t.notOk(changes.areLikely);
  changes.note(true);
  t.ok(changes.areLikely);
  t.end();
});
