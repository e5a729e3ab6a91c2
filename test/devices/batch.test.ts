import t from 'tap';
import { byDevice } from '../../src/devices/batch.ts';
import { deviceRef } from '../../src/devices/operation.ts';
import { NO_ATTRIBUTES } from '../../src/domain/device-attributes.ts';

t.test('each device once, with its operations in their order, and no other with its token', (t) => {
  const reg = (appId: number, platformId: number, deviceId: string, tagId: number) =>
    ({
      kind: 'reg',
      device: deviceRef(appId, platformId, deviceId),
      tagIds: [tagId],
      attributes: NO_ATTRIBUTES,
    }) as const;
  const operations = [
    reg(1, 15, 'one', 1),
    reg(2, 15, 'one', 2),
    reg(1, 15, 'two', 3),
    reg(1, 15, 'one', 4),
    reg(1, 7, 'one', 5),
    reg(2, 15, 'one', 6),
  ];
  const { devices, deviceOf } = byDevice(operations);
  t.same(
    devices.map(({ device, operations: some }) => [
      device.appId,
      device.platformId,
      device.deviceId,
      ...some.map(({ tagIds }) => tagIds[0]),
    ]),
    [
      [1, 15, 'one', 1, 4],
      [2, 15, 'one', 2, 6],
      [1, 15, 'two', 3],
      [1, 7, 'one', 5],
    ],
  );
  t.same(deviceOf, [0, 1, 2, 0, 3, 1]);
  t.end();
});
