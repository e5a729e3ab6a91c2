/** All commands of the command line, as main.ts lists them. */

import { listCommands } from '../../src/app/commands.ts';
import type { Command } from '../../src/cli/command.ts';
import { ONLY } from '../../src/cli/command.ts';
import { helpOf } from '../../src/cli/help.ts';

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

/** The help of each command, and then that of its verbs, keyed by the command's name. */
export async function helpsOf(): Promise<ReadonlyMap<string, readonly string[]>> {
  const commands = await loadCommands();
  return new Map(
    commands.map(({ name, command: { description } }) => {
      const verbs = Object.keys(description.verbs).filter((verb) => verb !== ONLY);
      return [name, [null, ...verbs].map((verb) => helpOf(description, verb))];
    }),
  );
}
