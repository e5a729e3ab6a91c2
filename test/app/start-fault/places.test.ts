/** The real program with a directory or a host that it cannot have. */

import { join } from 'node:path';
import t from 'tap';
import type { Case } from '../../support/start-refusals.ts';
import { holdThrown } from '../../support/start-refusals.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

t.test('places that cannot be had', async (t) => {
  const directory = temporaryDirectory(t, { file: '' });
  const cases: Case[] = [
    ['a file', { DATA_DIR: join(directory, 'file') }, /^DATA_DIR: .+there is a file in its place/],
    [
      'below a file',
      { DATA_DIR: join(directory, 'file', 'data') },
      /^DATA_DIR: .+there is a file in its place/,
    ],
    [
      'a host that nobody knows',
      { DATA_DIR: join(directory, 'a'), HOST: 'nowhere.invalid' },
      /^HOST: nowhere\.invalid cannot be resolved/,
    ],
    [
      "another machine's address",
      { DATA_DIR: join(directory, 'a'), HOST: '192.0.2.1' },
      /^HOST: 192\.0\.2\.1 is not an address of this machine/,
    ],
  ];
  if (process.platform === 'linux') {
    const line = /^DATA_DIR: \/proc\/tagcast\/data: it cannot be created there/;
    cases.push(['no place for files', { DATA_DIR: '/proc/tagcast/data' }, line]);
  }
  await holdThrown(t, cases);
});
