/** The operator's token in a header. */

import t from 'tap';
import { createTokenCheck } from '../../src/access/operator-token.ts';

t.test('it alone, as Bearer; where there is none, nothing', (t) => {
  const check = createTokenCheck('right');
  t.ok(check('Bearer right'));
  t.ok(check('bearer  right'));
  for (const header of ['', 'right', 'Bearer', 'Bearer wrong', 'Bearer right x', 'Basic right']) {
    t.notOk(check(header), header);
  }
  t.notOk(createTokenCheck(null)('Bearer '));
  t.end();
});
