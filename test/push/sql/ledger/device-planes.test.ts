/** Counts of devices by planes, against counts one by one. */

import t from 'tap';
import { GROUP_DEVICES } from '../../../../src/domain/device.ts';
import { DevicePlanes } from '../../../../src/push/sql/ledger/device-planes.ts';
import { addDevice, hasDevice, noDevices } from '../../../../src/push/sql/ledger/reach-words.ts';

t.test('the devices that are in so many sets', (t) => {
  const planes = new DevicePlanes();
  const counts = new Array<number>(GROUP_DEVICES).fill(0);
  for (let set = 0; set < 130; set += 1) {
    const bits = noDevices();
    for (let offset = 0; offset < GROUP_DEVICES; offset += 1) {
      // Each offset is in about as many sets as its place says: 0 to 130.
      if ((offset * 7 + set * 13) % 131 >= offset % 131) continue;
      addDevice(bits, offset);
      counts[offset] = (counts[offset] ?? 0) + 1;
    }
    planes.add(bits);
  }
  t.ok(counts.includes(0) && counts.some((count) => count > 127), 'few and many');
  for (const least of [1, 2, 3, 7, 8, 64, 100, 127, 128, 129, 200]) {
    const found = planes.atLeast(least);
    const wrong = counts.filter((count, offset) => count >= least !== hasDevice(found, offset));
    t.equal(wrong.length, 0, `${least}`);
  }
  t.end();
});

t.test('without sets nobody is in one', (t) => {
  t.same(new DevicePlanes().atLeast(1), noDevices());
  t.end();
});
