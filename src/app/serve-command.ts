/** `tagcast serve`: runs the service. Its help does not load the service. */

import type { Command } from '../cli/command.ts';
import { createCommand, ONLY, verb } from '../cli/command.ts';
import type { Terminal } from '../cli/terminal.ts';
import type { Config } from './config.ts';

const NOTES = `Runs until SIGTERM or SIGINT. Settings are environment variables, see config/example.env; without any it runs a demo on
http://127.0.0.1:8080.`;

export const serveCommand = (requireConfig: () => Promise<Config>, terminal: Terminal): Command =>
  createCommand<null>(
    {
      name: 'serve',
      notes: NOTES,
      verbs: { [ONLY]: verb({ summary: 'Runs the service.' }, () => null) },
    },
    terminal,
    async () => {
      const config = await requireConfig();
      const { serve } = await import('./serve.ts');
      return serve(config);
    },
  );
