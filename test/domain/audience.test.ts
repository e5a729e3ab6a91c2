import t from 'tap';
import { isInAudience } from '../../src/domain/audience.ts';
import type { Audience } from '../../src/domain/notification.ts';

const audience = (any: number[], all: number[] = [], none: number[] = []): Audience => ({
  anyTagIds: any,
  allTagIds: all,
  noneTagIds: none,
});

t.test('any of the first, all of the second, none of the third', (t) => {
  t.ok(isInAudience(audience([1, 2]), [2]));
  t.notOk(isInAudience(audience([1, 2]), [3]));
  t.notOk(isInAudience(audience([]), [1]), 'nobody');
  t.ok(isInAudience(audience([1], [2, 3]), [1, 2, 3]));
  t.notOk(isInAudience(audience([1], [2, 3]), [1, 2]));
  t.notOk(isInAudience(audience([1], [], [4]), [1, 4]));
  t.end();
});

t.test('what an expression asks besides', (t) => {
  const condition = { or: [{ and: [1, 2] }, { and: [3, -4] }] };
  const asked = { ...audience([1, 3]), condition };
  t.notOk(isInAudience(asked, [1]));
  t.notOk(isInAudience(asked, [3, 4]));
  t.ok(isInAudience(asked, [3]));
  t.notOk(isInAudience(asked, [1, 2]), 'tag 2 is no target any more: it has expired');
  t.ok(isInAudience({ ...audience([1, 2, 3]), condition }, [1, 2]));
  t.ok(isInAudience({ ...audience([1]), condition: null }, [1]));
  t.end();
});
