/** `tagcast` as a command of the machine (`npm link`), and by `npx` in the checkout. */

import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ROOT } from '../support/documents.ts';
import { searchPath } from '../support/environment.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const { name, version, type, bin } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
) as Readonly<Record<string, unknown>>;

t.test('linked, run, and by npx', (t) => {
  // A checkout of what was built here, without the script that patches packages after an install.
  const manifest = JSON.stringify({ name, version, type, bin });
  const checkout = temporaryDirectory(t, { 'package.json': manifest });
  symlinkSync(join(ROOT, 'dist'), join(checkout, 'dist'));
  const prefix = temporaryDirectory(t);
  const run = (program: string, ...args: readonly string[]) => {
    const env = {
      PATH: searchPath,
      npm_config_prefix: prefix,
      npm_config_cache: join(prefix, 'cache'),
      npm_config_offline: 'true',
    };
    const { status, stdout, stderr } = spawnSync(program, args, {
      cwd: checkout,
      env,
      encoding: 'utf8',
    });
    t.equal(status, 0, `${program} ${args.join(' ')}: ${stderr}`);
    return stdout;
  };
  run('npm', 'link', '--no-audit', '--no-fund');
  const command = join(prefix, 'bin', 'tagcast');
  // With its commit, in a clone.
  const versions = new RegExp(`^${version}( \\(\\S+\\))?\\n$`);
  t.match(run(command, '--version'), versions);
  t.match(run(command, 'send', '--help'), 'tagcast send');
  t.match(run('npx', 'tagcast', '--version'), versions);
  t.end();
});
