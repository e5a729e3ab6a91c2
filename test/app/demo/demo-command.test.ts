/** `tagcast demo`, also as a process: what it refuses, and that it says nothing but sentences. */

import { join } from 'node:path';
import t from 'tap';
import { createAccounts } from '../../../packages/simulator/src/accounts.ts';
import { writeAccounts } from '../../../packages/simulator/src/command/files.ts';
import { runCommand } from '../../support/processes.ts';
import { runHere } from '../../support/run-here.ts';
import { withPostgres } from '../../support/store.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const SECRET_KEY = 'a secret for tests only, long enough';

t.test(
  'wrong arguments are a sentence and the code 2, no database one and the code 1',
  async (t) => {
    const accountsFile = join(temporaryDirectory(t), 'accounts.json');
    await writeAccounts(accountsFile, await createAccounts());
    for (const [args, code, sentence] of [
      [[], 2, '--accounts-file is missing'],
      [['--accounts-file', '/does/not/exist'], 2, 'cannot read /does/not/exist'],
      [['extra', '--accounts-file', accountsFile], 2, 'unexpected argument extra'],
      [['--accounts-file', accountsFile], 1, 'DATABASE_URL is not set'],
    ] as const) {
      const result = await runHere(['demo', ...args]);
      t.equal(result.code, code);
      t.match(result.output, sentence);
      t.equal(result.output.trim().split('\n').length, 1, result.output);
    }
    t.match(await runHere(['demo', '--help']), { code: 0, output: /--accounts-file/ });
    const away = { DATABASE_URL: 'postgres://localhost:1/none', SECRET_KEY };
    const result = await runCommand(t, ['demo', '--accounts-file', accountsFile], away);
    t.match(result, { code: 1, output: /^DATABASE_URL: .*ECONNREFUSED/ });
    t.equal(result.output.trim().split('\n').length, 1, result.output);
  },
);

t.test('another simulator: the client stays, its provider credentials change', async (t) => {
  await withPostgres(t, async (t, url) => {
    const settings = { DATABASE_URL: url, SECRET_KEY };
    const outputs: string[] = [];
    const asProcess = (args: readonly string[], of: typeof settings) => runCommand(t, args, of);
    for (const [name, run] of [
      ['first', asProcess],
      ['second', runHere],
    ] as const) {
      const accountsFile = join(temporaryDirectory(t), `${name}.json`);
      await writeAccounts(accountsFile, await createAccounts());
      const { output } = await run(['demo', '--accounts-file', accountsFile], settings);
      outputs.push(output);
    }
    t.match(outputs[0], 'curl ');
    t.equal(outputs[0], outputs[1]);
    const { output } = await runHere(['app', 'list', 'demo'], settings);
    t.match(output, /3 \(has credentials\), 15 \(has credentials\)/);
  });
});
