import { createReadStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Entry } from '../../../packages/device-files/src/file-device.ts';
import type * as Formats from '../../../packages/device-files/src/formats.ts';
import type * as Reader from '../../../packages/device-files/src/read-entries.ts';
import type * as Writers from '../../../packages/device-files/src/write-devices.ts';
import { installPacked } from '../../support/packed.ts';

const DEVICE = { platformId: 15, deviceId: 'a,"b"', appVersion: '1.2', registeredAtMs: 1_000 };
const REGISTRATION =
  '<feed><entry><content><AppleRegistrationDescription><DeviceToken>ab</DeviceToken><Tags>news</Tags></AppleRegistrationDescription></content></entry></feed>';

t.test('a file that was written is read, and one of another engine', async (t) => {
  const { folder, load } = await installPacked(t, 'device-files');
  const { FORMATS } = await load<typeof Formats>('tagcast-device-files/formats');
  const { readEntries } = await load<typeof Reader>('tagcast-device-files/read-entries');
  const { csvWriter } = await load<typeof Writers>('tagcast-device-files/write-devices');
  const read = async (text: string, name: Formats.FormatName) => {
    const file = join(folder, name);
    writeFileSync(file, text);
    const found: Entry[] = [];
    for await (const entries of readEntries(createReadStream(file), FORMATS[name])) {
      found.push(...entries);
    }
    return found;
  };
  const tags = [{ sourceId: 'news', id: null, name: null }];
  const line = csvWriter.line({
    ...{ ...DEVICE, attributes: {}, tags: tags.map((tag) => JSON.stringify(tag)) },
    ...{
      firstRegisteredOn: null,
      unsubscribedAtMs: 2_000,
      refusals: 1,
      refusedAtMs: null,
      environment: null,
    },
  });
  t.match(line, /,1970-01-01T00:00:02\.000Z,1,,$/m);
  t.match(await read(csvWriter.head + line, 'csv'), [
    { kind: 'device', line: 2, device: { ...DEVICE, tags } },
  ]);
  t.match(await read(REGISTRATION, 'azure'), [
    { kind: 'device', device: { platformId: 3, deviceId: 'ab', tags: [{ sourceId: 'news' }] } },
  ]);
});
