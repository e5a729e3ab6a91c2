/**
 * `tagcast demo`: creates the demo client in a PostgreSQL, for engines that send to a simulator
 * that runs alone (config/compose.yaml).
 */

import { loadSecretKey } from './access/secret-key.ts';
import { createSecrets } from './access/secrets.ts';
import type { Command } from './cli/command.ts';
import type { Terminal } from './cli/operator-command.ts';
import { readFlags, readPositionals, UsageError } from './cli/operator-command.ts';
import { readAccounts } from './cli/simulator-files.ts';
import type { Config } from './config.ts';
import { describeDemo, ensureDemo } from './demo.ts';
import { openPostgres } from './store/store.ts';

const USAGE = `tagcast demo --accounts-file <file> [--url <address>]

Creates the client "demo" in the database of DATABASE_URL, with an app, tags, and the provider credentials of the accounts file,
which \`tagcast simulate --accounts-file\` writes. Prints the client's credentials and three lines that register a device, push to
it and show how it ended. A client that exists already gets the credentials of the file, and keeps the rest.

  --accounts-file <file>  accounts of the simulator that the engines send to
  --url <address>         address of an engine (http://127.0.0.1:8080)`;

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** Makes the command. */
export const demoCommand = (requireConfig: () => Promise<Config>, terminal: Terminal): Command => ({
  usage: USAGE,
  run: async (args) => {
    if (args.some((argument) => argument === '--help' || argument === '-h')) {
      terminal.print(USAGE);
      return 0;
    }
    try {
      return await makeDemo(args, requireConfig, terminal);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      terminal.complain(error.message);
      return EXIT_USAGE;
    }
  },
});

async function makeDemo(
  args: readonly string[],
  requireConfig: () => Promise<Config>,
  terminal: Terminal,
): Promise<number> {
  const { values, positionals } = readFlags(args, {
    'accounts-file': { type: 'string' },
    url: { type: 'string', default: 'http://127.0.0.1:8080' },
  });
  readPositionals(positionals, []);
  const file = values['accounts-file'];
  if (file === undefined) throw new UsageError('--accounts-file is missing');
  const accounts = await readAccounts(file);
  if (accounts === undefined) throw new UsageError(`--accounts-file: cannot read ${file}`);
  const config = await requireConfig();
  if (config.DATABASE_URL === undefined) {
    terminal.complain(
      'DATABASE_URL is not set: an embedded engine creates its demo client by itself.',
    );
    return EXIT_FAILED;
  }
  const secrets = createSecrets(await loadSecretKey(config), config.SECRET_KEY_OTHER);
  const store = await openPostgres(config.DATABASE_URL);
  try {
    const demo = await ensureDemo(store.sql, secrets, accounts);
    terminal.print(describeDemo(values.url, demo, null, null));
    return 0;
  } finally {
    await store.close();
  }
}
