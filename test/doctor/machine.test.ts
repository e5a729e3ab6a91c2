import t from 'tap';
import { checkDescriptors, checkDisk, checkNode, readDisk } from '../../src/doctor/machine.ts';

t.test('releases of Node.js', (t) => {
  t.equal(checkNode().level, 'ok', 'the tests run on one that is tested');
  for (const [version, level] of [
    ['18.20.4', 'problem'],
    ['20.19.0', 'problem'],
    ['20.20.1', 'ok'],
    ['21.7.0', 'warning'],
    ['22.0.0', 'ok'],
    ['27.1.0', 'warning'],
  ] as const) {
    t.equal(checkNode(version).level, level, version);
  }
  t.end();
});

t.test('open files', (t) => {
  t.match(checkDescriptors(false, 1_024), { level: 'warning', text: /up to 1024: room for 512 / });
  t.match(checkDescriptors(true, 1_024), { level: 'warning', text: /room for 384 / });
  t.match(checkDescriptors(false, 1_048_576), { level: 'ok' });
  t.end();
});

t.test('the disk of the data directory counts where the database lies on it', async (t) => {
  const disk = (mib: number) => ({ freeBytes: mib * 1_048_576 });
  t.match(checkDisk('/data', disk(100), true), { level: 'problem', text: /0\.1 GiB.*make room/ });
  t.match(checkDisk('/data', disk(1_000), true), { level: 'warning' });
  t.match(checkDisk('/data', disk(10_000), true), { level: 'ok' });
  t.match(checkDisk('/data', disk(100), false), { level: 'ok' });
  t.match(checkDisk('/data', await readDisk('/does/not/exist'), true), { level: 'ok' });
  t.ok(((await readDisk('/'))?.freeBytes ?? 0) > 0);
});
