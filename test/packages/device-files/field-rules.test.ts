/** A device of a file may be what a registration may be, no less and no more. */

import t from 'tap';
import * as rules from '../../../packages/device-files/src/field-rules.ts';
import { DEVICE_ID_LENGTH_MAX } from '../../../src/domain/device.ts';
import { ATTRIBUTES } from '../../../src/domain/device-attributes.ts';
import { ID_MAX, SOURCE_ID_LENGTH_MAX, TAG_NAME_LENGTH_MAX } from '../../../src/domain/tag.ts';

t.test('the limits are those of the engine', (t) => {
  t.equal(rules.DEVICE_ID_LENGTH_MAX, DEVICE_ID_LENGTH_MAX);
  t.same(
    rules.ATTRIBUTE_LENGTHS,
    ATTRIBUTES.map(([name, { lengthMax }]) => [name, lengthMax]),
  );
  t.equal(rules.SOURCE_ID_LENGTH_MAX, SOURCE_ID_LENGTH_MAX);
  t.equal(rules.TAG_NAME_LENGTH_MAX, TAG_NAME_LENGTH_MAX);
  t.equal(rules.ID_MAX, ID_MAX);
  t.end();
});

t.test('text and ids that can be stored', (t) => {
  for (const text of ['a', '😀', 'a'.repeat(9)]) t.ok(rules.isText(text, 9), text);
  for (const text of ['', 'a'.repeat(10), 'a\0', '\ud800', 1, null]) t.notOk(rules.isText(text, 9));
  for (const id of [1, ID_MAX]) t.ok(rules.isId(id));
  for (const id of [0, -1, 1.5, ID_MAX + 1, '1', Number.NaN]) t.notOk(rules.isId(id));
  t.end();
});
