import t from 'tap';
import { UnfamiliarReasons } from '../../../src/push/protocol/unfamiliar-reasons.ts';

t.test('each is new once, and their number has an end', (t) => {
  const reasons = new UnfamiliarReasons();
  t.equal(reasons.isNew(3, 400, 'New'), true);
  t.equal(reasons.isNew(3, 400, 'New'), false);
  t.equal(reasons.isNew(3, 403, 'New'), true, 'with another status it means something else');
  t.equal(reasons.isNew(15, 400, 'New'), true);
  let told = 3;
  for (let number = 0; number < 2_000; number += 1) {
    if (reasons.isNew(3, 400, `${number}`)) told += 1;
  }
  t.equal(told, 1_000);
  t.end();
});
