/** `tagcast serve`: runs the service. Its help does not load the service. */

import type { Command } from './cli/command.ts';
import type { Terminal } from './cli/operator-command.ts';
import type { Config } from './config.ts';

const USAGE = `tagcast serve

Runs until SIGTERM or SIGINT. Settings are environment variables, see config/example.env; without any it runs a demo on
http://127.0.0.1:8080.`;

const EXIT_USAGE = 2;

/** Makes the command. */
export const serveCommand = (
  requireConfig: () => Promise<Config>,
  terminal: Terminal,
): Command => ({
  usage: USAGE,
  run: async (args) => {
    if (args.length === 0) {
      const config = await requireConfig();
      const { serve } = await import('./serve.ts');
      return serve(config);
    }
    const isHelp = args.includes('--help') || args.includes('-h');
    if (isHelp) terminal.print(USAGE);
    else terminal.complain(`unexpected argument ${args[0]}\n${USAGE}`);
    return isHelp ? 0 : EXIT_USAGE;
  },
});
