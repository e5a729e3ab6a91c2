/** One engine per data directory, whatever is left behind and whoever comes at the same time. */

import { once } from 'node:events';
import { symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import type { LockResult } from '../../../src/store/embedded/lock.ts';
import { engineSocketPath, lockDataDir } from '../../../src/store/embedded/lock.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const lock = (directory: string): Promise<LockResult> =>
  lockDataDir(directory, (socket) => socket.end('hello'));

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
