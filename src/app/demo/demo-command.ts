/** `tagcast demo`: the demo client in a PostgreSQL, for engines with a simulator elsewhere. */

import { readAccounts } from '../../../packages/simulator/src/command/files.ts';
import { loadSecretKey } from '../../access/secret-key.ts';
import { createSecrets } from '../../access/secrets.ts';
import { required, UsageError } from '../../cli/arguments.ts';
import type { Command } from '../../cli/command.ts';
import {
  createCommand,
  EXIT_FAILED,
  ONLY,
  printedJson,
  verb,
  withJson,
} from '../../cli/command.ts';
import { withUsageErrors } from '../../cli/simulator-faults.ts';
import type { Terminal } from '../../cli/terminal.ts';
import { openPostgres } from '../../database/store.ts';
import { realPlatforms } from '../../providers/origins.ts';
import type { Config } from '../config.ts';
import { describeDemo, ensureDemo } from './demo.ts';
import { addDemoDevices } from './demo-devices.ts';

const NOTES = `Creates the client "demo" in the database of DATABASE_URL, with an app, tags, and the provider credentials of the accounts file,
which \`tagcast simulate --accounts-file\` writes. Prints the client's credentials and three lines that register a device, push to
it and show how it ended. A client that exists already gets the credentials of the file, and keeps the rest. Its app gets
simulated devices (DEMO_DEVICES) when it has none, and the settings name the simulator as those of the engines do.`;

const FLAGS = {
  'accounts-file': {
    type: 'string',
    value: 'file',
    about: 'accounts of the simulator that the engines send to',
  },
  url: {
    type: 'string',
    value: 'address',
    default: 'http://127.0.0.1:8080',
    about: 'address of an engine',
  },
} as const;

interface Wanted {
  readonly file: string;
  readonly url: string;
}

export const demoCommand = (requireConfig: () => Promise<Config>, terminal: Terminal): Command =>
  createCommand<Wanted>(
    {
      name: 'demo',
      notes: NOTES,
      verbs: withJson({
        [ONLY]: verb(
          { summary: 'Creates the demo client in a PostgreSQL.', flags: FLAGS },
          (_, { 'accounts-file': file, url }) => ({ file: required('accounts-file', file), url }),
        ),
      }),
    },
    terminal,
    (wanted, { isJson }) => makeDemo(wanted, requireConfig, terminal, isJson),
  );

async function makeDemo(
  { file, url }: Wanted,
  requireConfig: () => Promise<Config>,
  terminal: Terminal,
  isJson: boolean,
): Promise<number> {
  const accounts = await withUsageErrors(() => readAccounts(file));
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
    await addDemoDevices(store.sql, demo, config, realPlatforms(config, null));
    terminal.print(
      isJson ? printedJson({ baseUrl: url, ...demo }) : describeDemo(url, demo, null, null),
    );
    return 0;
  } finally {
    await store.close();
  }
}
