/** The findings about the embedded database, without opening it. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { lockDataDir } from '../../src/database/embedded/lock.ts';
import { checkEmbedded } from '../../src/doctor/embedded.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

t.test('who holds it, and what nobody can see', async (t) => {
  const dataDir = temporaryDirectory(t);
  const free = await checkEmbedded(dataDir, { fsync: true });
  t.match(free, [
    { level: 'ok', text: /can be written/ },
    { level: 'ok', text: /no engine holds/ },
    { level: 'ok', text: /survives a power cut/ },
    { level: 'warning', text: /tagcast store move/ },
    { level: 'warning', text: /backup were not checked/ },
  ]);
  const lock = await lockDataDir(dataDir, (socket) => socket.destroy());
  if (lock.kind !== 'held') throw new Error('it is not free');
  const held = await checkEmbedded(dataDir, { fsync: true });
  t.match(held[1], { level: 'ok', text: new RegExp(`process ${process.pid}$`) });
  await lock.release();
  t.match((await checkEmbedded(dataDir, { fsync: true }))[1], { text: /no engine holds/ });
});

t.test('a directory that is not there, and one that is none', async (t) => {
  const parent = temporaryDirectory(t);
  const absent = await checkEmbedded(join(parent, 'absent'), { fsync: false });
  t.match(absent[0], { level: 'ok', text: /no engine holds/ }, 'the first start makes it');
  t.match(absent[1], { level: 'problem', text: /^EMBEDDED_FSYNC is 0/ });
  const file = join(parent, 'file');
  writeFileSync(file, '');
  t.match((await checkEmbedded(file, { fsync: true }))[0], {
    level: 'problem',
    text: /is no directory/,
  });
});
