/** For a publisher's commands: where this user's profiles are, and the demo that runs here. */

import { homedir } from 'node:os';
import { join } from 'node:path';
import { processTerminal } from '../../cli/process-terminal.ts';
import { readDemoProfile } from '../../cli/publisher/demo-profile.ts';
import type { PublisherContext } from '../../cli/publisher/publisher-command.ts';

/** XDG_CONFIG_HOME is the user's, for all programs, and no setting of ours. */
const configHome = (): string => process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config');

export const publisherContext = (): PublisherContext => ({
  terminal: processTerminal,
  profilesPath: join(configHome(), 'tagcast', 'profiles.json'),
  async readDemo() {
    const { readConfig } = await import('../config.ts');
    const read = readConfig();
    return read.ok ? readDemoProfile(read.config.DATA_DIR) : null;
  },
  signals: process,
});
