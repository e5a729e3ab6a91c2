/**
 * One engine per data directory, in spite of any leftovers and of any other engine at the same
 * time.
 */

import { once } from 'node:events';
import { readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import type { LockResult } from '../../../src/database/embedded/lock.ts';
import { engineSocketPath, lockDataDir } from '../../../src/database/embedded/lock.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const lock = (directory: string): Promise<LockResult> =>
  lockDataDir(directory, (socket) => socket.on('error', () => undefined).end('hello'));

const release = async (result: LockResult): Promise<void> => {
  if (result.kind === 'held') await result.release();
};

t.test('the second is refused until the first lets go', async (t) => {
  const directory = temporaryDirectory(t);
  const first = await lock(directory);
  t.equal(first.kind, 'held');
  t.equal((await lock(directory)).kind, 'taken');
  await release(first);
  const second = await lock(directory);
  t.equal(second.kind, 'held');
  await release(second);
});

t.test('of many that start in the same instant exactly one gets it', async (t) => {
  const directory = temporaryDirectory(t);
  const results = await Promise.all(Array.from({ length: 10 }, () => lock(directory)));
  t.same(results.filter(({ kind }) => kind === 'held').length, 1);
  await Promise.all(results.map(release));
});

t.test('another spelling of the directory is the same directory', async (t) => {
  const directory = temporaryDirectory(t);
  const alias = join(temporaryDirectory(t), 'alias');
  symlinkSync(directory, alias);
  const first = await lock(directory);
  t.equal((await lock(alias)).kind, 'taken');
  await release(first);
});

t.test('a socket file that a killed engine left behind does not stop the next', async (t) => {
  const directory = temporaryDirectory(t);
  writeFileSync(engineSocketPath(directory), '');
  const result = await lock(directory);
  t.equal(result.kind, 'held');
  await release(result);
});

t.test(
  'who holds it still does when the file of its socket is gone',
  { skip: process.platform !== 'linux' && 'no abstract sockets' },
  async (t) => {
    const directory = temporaryDirectory(t);
    const first = await lock(directory);
    rmSync(engineSocketPath(directory));
    t.equal((await lock(directory)).kind, 'taken');
    await release(first);
    const second = await lock(directory);
    t.equal(second.kind, 'held');
    await release(second);
  },
);

t.test('who holds it answers commands', async (t) => {
  const directory = temporaryDirectory(t);
  const held = await lock(directory);
  const socket = connect(engineSocketPath(directory));
  const [data] = await once(socket, 'data');
  t.equal(String(data), 'hello');
  await release(held);
});

t.test('a path that no Unix socket can have is said so', async (t) => {
  const result = await lock(join(temporaryDirectory(t), 'x'.repeat(120)));
  t.equal(result.kind, 'path-too-long');
});

t.test(
  "a stranger cannot take the directory's name",
  { skip: process.platform !== 'linux' && 'no abstract sockets' },
  async (t) => {
    const directory = temporaryDirectory(t);
    const { dev, ino } = statSync(directory);
    const former = `\0tagcast-${dev}-${ino}`;
    const take = async (name: string): Promise<void> => {
      const stranger = createServer().listen(name);
      t.teardown(() => stranger.close());
      await once(stranger, 'listening');
    };
    await take(former);
    const first = await lock(directory);
    t.equal(first.kind, 'held', 'the former name was taken');
    const seen = readFileSync('/proc/net/unix', 'utf8').match(
      new RegExp(`(?<=@)tagcast-${dev}-${ino}-.+$`, 'gm'),
    );
    t.equal(seen?.length, 2, 'everybody sees the names that are bound');
    t.equal((await lock(directory)).kind, 'taken');
    await release(first);
    for (const name of seen ?? []) await take(`\0${name}`);
    const second = await lock(directory);
    t.equal(second.kind, 'held', 'and they are of no use any more');
    await release(second);
    t.equal(statSync(join(directory, 'engine.lock')).mode & 0o777, 0o600);
  },
);

t.test(
  'an engine of the version before is found by its socket, and finds this one',
  { skip: process.platform !== 'linux' && 'no abstract sockets' },
  async (t) => {
    const directory = temporaryDirectory(t);
    const { dev, ino } = statSync(directory);
    const former = createServer().listen(`\0tagcast-${dev}-${ino}`);
    await once(former, 'listening');
    const starting = lock(directory);
    // It binds the name first.
    await setImmediate();
    const server = createServer().listen(engineSocketPath(directory));
    await once(server, 'listening');
    t.equal((await starting).kind, 'taken');
    server.close();
    former.close();
    await Promise.all([once(server, 'close'), once(former, 'close')]);
    const held = await lock(directory);
    t.equal(held.kind, 'held');
    const [error] = await once(createServer().listen(`\0tagcast-${dev}-${ino}`), 'error');
    t.equal((error as NodeJS.ErrnoException).code, 'EADDRINUSE');
    await release(held);
  },
);
