#!/usr/bin/env node
/** The command line: runs the service without a command, else the command of an operator. */

import type { Command } from './cli/command.ts';
import type { OperatorContext } from './cli/operator-command.ts';
import { processTerminal } from './cli/process-terminal.ts';
import type { Config } from './config.ts';
import { startFault, tellFault } from './start-fault.ts';
import { version } from './version.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/**
 * One line of `--help`. A command is loaded when it is run: loading the whole program takes a
 * second, and no command needs all of it.
 */
interface Entry {
  readonly name: string;
  readonly summary: string;
  load(): Promise<Command>;
}

const operator: OperatorContext = {
  open: async () => {
    const config = await requireConfig();
    const { openOperator } = await import('./open-operator.ts');
    return openOperator(config);
  },
  terminal: processTerminal,
};

const index = {
  open: async () => {
    const config = await requireConfig();
    const { openIndex } = await import('./open-index.ts');
    return openIndex(config);
  },
  terminal: processTerminal,
};

const ENTRIES: readonly Entry[] = [
  {
    name: 'serve',
    summary: 'Run the service (the default command).',
    load: async () =>
      (await import('./serve-command.ts')).serveCommand(requireConfig, processTerminal),
  },
  {
    name: 'simulate',
    summary: 'Run a simulated APNs, FCM, Google token endpoint and Web Push service.',
    load: async () => (await import('./cli/simulate.ts')).simulateCommand,
  },
  {
    name: 'demo',
    summary: 'Create the demo client in a PostgreSQL, for a simulator that runs on its own.',
    load: async () =>
      (await import('./demo-command.ts')).demoCommand(requireConfig, processTerminal),
  },
  {
    name: 'client',
    summary: 'Add, list, disable and enable clients (tenants).',
    load: async () => (await import('./cli/client.ts')).clientCommand(operator),
  },
  {
    name: 'app',
    summary: "Add and list apps; set their providers' credentials.",
    load: async () => (await import('./cli/app.ts')).appCommand(operator),
  },
  {
    name: 'credential',
    summary: 'Show and rotate the credentials of a client or an app.',
    load: async () => (await import('./cli/credential.ts')).credentialCommand(operator),
  },
  {
    name: 'member',
    summary: "Invite and list a client's members in the console; reset passwords.",
    load: async () => (await import('./cli/member.ts')).memberCommand(operator),
  },
  {
    name: 'operator',
    summary: "Add and list the operator's accounts in the console; invite new clients.",
    load: async () => (await import('./cli/operator.ts')).operatorCommand(operator),
  },
  {
    name: 'secret-key',
    summary: 'Bring everything under a new SECRET_KEY.',
    load: async () => (await import('./cli/secret-key.ts')).secretKeyCommand(operator),
  },
  {
    name: 'deletions',
    summary: 'List, release and discard held deletions of devices.',
    load: async () => (await import('./cli/deletions.ts')).deletionsCommand(operator),
  },
  {
    name: 'parked',
    summary: 'List and release parked parts: those of a send that could not be completed.',
    load: async () => (await import('./cli/parked.ts')).parkedCommand(operator),
  },
  {
    name: 'devices',
    summary: "Export and import an app's devices.",
    load: async () => (await import('./cli/devices/devices.ts')).devicesCommand(operator, process),
  },
  {
    name: 'index',
    summary: 'Verify and rebuild the tag index in Redis.',
    load: async () => (await import('./cli/index-command.ts')).indexCommand(index),
  },
  {
    name: 'fetch',
    summary: 'Fetch one URL with our own HTTP/2 client.',
    load: async () => (await import('./cli/fetch.ts')).fetchCommand,
  },
];

/** Set once a command has asked for it. */
let config: Config | null = null;

process.exitCode = await run(process.argv.slice(2));

async function run([name = 'serve', ...args]: readonly string[]): Promise<number> {
  if (name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(help());
    return 0;
  }
  if (name === '--version') {
    process.stdout.write(`${version()}\n`);
    return 0;
  }
  const entry = ENTRIES.find((candidate) => candidate.name === name);
  if (entry !== undefined) {
    const command = await entry.load();
    try {
      return await command.run(args);
    } catch (error) {
      const fault = startFault(error, config);
      if (fault === null) throw error;
      tellFault(fault, config);
      return EXIT_FAILED;
    }
  }
  process.stderr.write(`There is no command ${name}.\n\n${help()}`);
  return EXIT_USAGE;
}

function help(): string {
  const width = Math.max(...ENTRIES.map(({ name }) => name.length));
  const lines = ENTRIES.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return `tagcast [command] [arguments]      (npm start -- [command] [arguments])

${lines.join('\n')}

\`tagcast <command> --help\` says more; \`tagcast --version\` prints the version. Settings are environment variables: config/example.env lists them all.
`;
}

/** The configuration; a wrong one ends the process with one sentence for each fault. */
async function requireConfig(): Promise<Config> {
  const { readConfig } = await import('./config.ts');
  const result = readConfig();
  if (result.ok) {
    config = result.config;
    return config;
  }
  process.stderr.write(`${result.faults.join('\n')}\n`);
  process.exit(EXIT_FAILED);
}
