/** Who has to go when too much of answers is not taken. */

import t from 'tap';
import { UnsentAnswers } from '../../../packages/http1/src/unsent-answers.ts';

t.test('of the network that is owed most, the one that has been owed for longest', (t) => {
  const unsent = new UnsentAnswers<string>();
  t.equal(unsent.whoGoes(), null);
  unsent.note('a1', 'a', 100);
  unsent.note('b1', 'b', 60);
  unsent.note('b2', 'b', 60);
  unsent.note('b1', 'b', 50);
  t.equal(unsent.bytes, 210);
  t.equal(unsent.whoGoes(), 'b1', 'it is still the first');
  unsent.note('b1', 'b', 0);
  t.equal(unsent.whoGoes(), 'a1');
  unsent.note('a1', 'a', 0);
  t.equal(unsent.whoGoes(), 'b2');
  unsent.note('b2', 'b', 0);
  t.same([unsent.whoGoes(), unsent.bytes], [null, 0]);
  t.end();
});
