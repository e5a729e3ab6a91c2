#!/usr/bin/env node
/** The command line: without a command the service, else what an operator asks for. */

import { appCommand } from './cli/app.ts';
import { clientCommand } from './cli/client.ts';
import type { Command } from './cli/command.ts';
import { credentialCommand } from './cli/credential.ts';
import { deletionsCommand } from './cli/deletions.ts';
import { devicesCommand } from './cli/devices.ts';
import { fetchCommand } from './cli/fetch.ts';
import { indexCommand } from './cli/index-command.ts';
import type { OperatorContext } from './cli/operator-command.ts';
import { openOperatorSession } from './cli/operator-session.ts';
import { processTerminal } from './cli/process-terminal.ts';
import { simulateCommand } from './cli/simulate.ts';
import type { Config } from './config.ts';
import { readConfig } from './config.ts';
import { demoCommand } from './demo-command.ts';
import { openIndex } from './open-index.ts';
import { createCheck } from './provider-check.ts';
import { providerOrigins } from './provider-origins.ts';
import { serve } from './serve.ts';
import { faultOf } from './store/faults.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
/** How sentences about a setting begin. */
const SETTING = /^[A-Z]+(_[A-Z]+)*: /;

const serveCommand: Command = {
  name: 'serve',
  summary: 'Run the service (what happens without a command).',
  usage: `tagcast serve

Runs until SIGTERM or SIGINT. Settings are environment variables, see config/example.env; without any it runs a demo on
http://127.0.0.1:8080.`,
  run: (args) => {
    if (args.length === 0) return serve(requireConfig());
    const isHelp = args.includes('--help') || args.includes('-h');
    if (isHelp) processTerminal.print(serveCommand.usage);
    else processTerminal.complain(`${args[0]} is too much\n${serveCommand.usage}`);
    return Promise.resolve(isHelp ? 0 : EXIT_USAGE);
  },
};

const operator: OperatorContext = {
  open: () => {
    const config = requireConfig();
    const origins = providerOrigins(config, null);
    return openOperatorSession({
      ...config,
      oauthOrigin: origins.oauth,
      checkOf: (sql, secrets) => createCheck(sql, secrets, origins),
    });
  },
  terminal: processTerminal,
};

const COMMANDS: readonly Command[] = [
  serveCommand,
  simulateCommand,
  demoCommand(requireConfig, processTerminal),
  clientCommand(operator),
  appCommand(operator),
  credentialCommand(operator),
  deletionsCommand(operator),
  devicesCommand(operator, process),
  indexCommand({ open: () => openIndex(requireConfig()), terminal: processTerminal }),
  fetchCommand,
];

process.exitCode = await run(process.argv.slice(2));

async function run([name = 'serve', ...args]: readonly string[]): Promise<number> {
  if (name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(help());
    return 0;
  }
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (command !== undefined) {
    try {
      return await command.run(args);
    } catch (error) {
      const sentence = sentenceOf(error);
      if (sentence === null) throw error;
      processTerminal.complain(sentence);
      return EXIT_FAILED;
    }
  }
  process.stderr.write(`There is no command ${name}.\n\n${help()}`);
  return EXIT_USAGE;
}

/** What concerns a setting or the database is a sentence for the operator; null: a fault of ours, whose stack is wanted. */
function sentenceOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  if (SETTING.test(error.message)) return error.message;
  return faultOf(error) === 'unavailable' ? `DATABASE_URL: ${error.message}` : null;
}

function help(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  const lines = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return `tagcast [command] [arguments]      (npm start -- [command] [arguments])

${lines.join('\n')}

\`tagcast <command> --help\` says more. Settings are environment variables: config/example.env has them all.
`;
}

/** The configuration; a wrong one ends the process with one sentence for each fault. */
function requireConfig(): Config {
  const result = readConfig();
  if (result.ok) return result.config;
  process.stderr.write(`${result.faults.join('\n')}\n`);
  process.exit(EXIT_FAILED);
}
