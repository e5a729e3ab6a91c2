/** The form of a device token. */

import t from 'tap';
import { deviceTokenOf } from '../../../../packages/simulator/src/apns/device-token.ts';

t.test('hex of 32 bytes or more, in lower case whatever case it came in', (t) => {
  const digits = '0123456789abcdef'.repeat(4);
  t.equal(deviceTokenOf(`/3/device/${digits}`), digits);
  t.equal(deviceTokenOf(`/3/device/${digits.toUpperCase()}`), digits);
  t.equal(deviceTokenOf(`/3/device/${digits}aB`), `${digits}ab`);
  t.equal(deviceTokenOf(`/4/device/${digits}`), undefined, 'another path');
  for (const length of [0, 2, 62, 63, 65]) {
    t.equal(deviceTokenOf(`/3/device/${'a'.repeat(length)}`), undefined, `${length} digits`);
  }
  t.end();
});

t.test('any other character spoils it, wherever it stands', (t) => {
  for (const other of ['/', ':', '@', 'G', '`', 'g', ' ', '\0', '\x7f', '\x80', 'ÿ', 'İ']) {
    for (const place of [0, 31, 63]) {
      const token = 'a'.repeat(place) + other + 'A'.repeat(63 - place);
      t.equal(
        deviceTokenOf(`/3/device/${token}`),
        undefined,
        `${JSON.stringify(other)} at ${place}`,
      );
    }
  }
  t.end();
});
