#!/usr/bin/env node
/** The command line: runs the service without a command, else the command of an operator. */

import { listCommands } from './app/commands.ts';
import type { Config } from './app/config.ts';
import { startFault, tellFault } from './app/start-fault.ts';
import { versionInWords } from './app/version.ts';
import { processTerminal } from './cli/process-terminal.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** Set once a command has asked for it. */
let config: Config | null = null;

const COMMANDS = listCommands(requireConfig);

process.exitCode = await run(process.argv.slice(2));

async function run([name = 'serve', ...args]: readonly string[]): Promise<number> {
  if (name === '--help' || name === '-h' || name === 'help') {
    processTerminal.print(help());
    return 0;
  }
  if (name === '--version') {
    processTerminal.print(versionInWords());
    return 0;
  }
  const entry = COMMANDS.find((candidate) => candidate.name === name);
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
  const { meantName } = await import('./std/nearest-name.ts');
  const names = COMMANDS.map((command) => command.name);
  const near = meantName(name, names);
  const hint = near === null ? '' : ` Did you mean ${near}?`;
  processTerminal.complain(`There is no command ${name}.${hint}\n\n${help()}`);
  return EXIT_USAGE;
}

function help(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  const lines = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return `tagcast [command] [arguments]      (npm start -- [command] [arguments])

${lines.join('\n')}

\`tagcast <command> --help\` says more; \`tagcast --version\` prints the version and the commit. Settings are environment variables: config/example.env lists them all.`;
}

/** The configuration; a wrong one ends the process with one sentence for each fault. */
async function requireConfig(): Promise<Config> {
  const { readConfig } = await import('./app/config.ts');
  const result = readConfig();
  if (result.ok) {
    config = result.config;
    return config;
  }
  processTerminal.complain(result.faults.join('\n'));
  process.exit(EXIT_FAILED);
}
