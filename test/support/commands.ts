/** All commands of the command line, as main.ts lists them. */

import type { Command } from '../../src/cli/command.ts';
import { listCommands } from '../../src/commands.ts';

/** Each with the summary of the list; none of them is run. */
export const loadCommands = (): Promise<
  readonly { readonly name: string; readonly summary: string; readonly command: Command }[]
> => {
  const noConfig = () => Promise.reject(new Error('no command is run'));
  return Promise.all(
    listCommands(noConfig).map(async (listed) => ({
      name: listed.name,
      summary: listed.summary,
      command: await listed.load(),
    })),
  );
};
