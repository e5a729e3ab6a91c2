/**
 * Runs commands in this process as `runCommand` runs them in one of their own, which takes a third
 * of a second of CPU each time. What only a process shows (its exit, signals, a terminal) is for
 * `runCommand`: once for each command.
 */

import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import type { Config, ConfigResult } from '../../src/app/config.ts';
import { readConfig } from '../../src/app/config.ts';
import { demoCommand } from '../../src/app/demo/demo-command.ts';
import { examine, settingsFindings } from '../../src/app/open/open-doctor.ts';
import { openIndex } from '../../src/app/open/open-index.ts';
import { moveStore } from '../../src/app/open/open-move.ts';
import { openOperator } from '../../src/app/open/open-operator.ts';
import { startFault, tellFault } from '../../src/app/start-fault.ts';
import { appCommand } from '../../src/cli/app.ts';
import { clientCommand } from '../../src/cli/client.ts';
import type { Command } from '../../src/cli/command.ts';
import { credentialCommand } from '../../src/cli/credential.ts';
import { devicesCommand } from '../../src/cli/devices/devices.ts';
import { doctorCommand } from '../../src/cli/doctor.ts';
import { indexCommand } from '../../src/cli/index-command.ts';
import { memberCommand } from '../../src/cli/member.ts';
import type { OperatorContext } from '../../src/cli/operator-command.ts';
import { attributeCommand } from '../../src/cli/publisher/attribute.ts';
import { readDemoProfile } from '../../src/cli/publisher/demo-profile.ts';
import { deviceCommand } from '../../src/cli/publisher/device.ts';
import { explainCommand } from '../../src/cli/publisher/explain.ts';
import { groupCommand } from '../../src/cli/publisher/group.ts';
import { notificationCommand } from '../../src/cli/publisher/notification.ts';
import { policyCommand } from '../../src/cli/publisher/policy.ts';
import { profileCommand } from '../../src/cli/publisher/profile.ts';
import type { PublisherContext } from '../../src/cli/publisher/publisher-command.ts';
import { segmentCommand } from '../../src/cli/publisher/segment.ts';
import { sendCommand } from '../../src/cli/publisher/send.ts';
import { statusCommand } from '../../src/cli/publisher/status.ts';
import { tagCommand } from '../../src/cli/publisher/tag.ts';
import { secretKeyCommand } from '../../src/cli/secret-key.ts';
import { storeCommand } from '../../src/cli/store.ts';
import type { Terminal } from '../../src/cli/terminal.ts';

/** The same as `runCommand` answers. */
export interface CommandEnd {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

/** Runs a command to its end, with these settings and no others. */
export async function runHere(
  [name, ...args]: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<CommandEnd> {
  const { terminal, heard } = hearTerminal();
  const read = readConfig(environment);
  const config = read.ok ? read.config : null;
  const requireConfig = (): Promise<Config> =>
    read.ok ? Promise.resolve(read.config) : Promise.reject(new WrongSettings(read.faults));
  try {
    const publisher: PublisherContext = {
      terminal,
      profilesPath: profilesPath(environment),
      readDemo: async () => (config === null ? null : readDemoProfile(config.DATA_DIR)),
      signals: new EventEmitter(),
    };
    const command = commandNamed(name, read, requireConfig, terminal, publisher);
    return { code: await command.run(args), ...heard() };
  } catch (error) {
    if (error instanceof WrongSettings) terminal.complain(error.faults.join('\n'));
    else {
      const fault = startFault(error, config);
      if (fault === null) throw error;
      tellFault(fault, config, terminal);
    }
    return { code: 1, ...heard() };
  }
}

class WrongSettings extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join(' '));
    this.faults = faults;
  }
}

function hearTerminal() {
  let output = '';
  let errors = '';
  const hear = (text: string): void => {
    output += text;
  };
  const hearError = (text: string): void => {
    errors += text;
    hear(text);
  };
  const terminal: Terminal = {
    print: (text) => hear(`${text}\n`),
    complain: (text) => hearError(`${text}\n`),
    note: (text) => hearError(`${text}\n`),
    write(data) {
      hear(data);
      return Promise.resolve(true);
    },
    progress: { isTerminal: false, write: hearError },
  };
  return { terminal, heard: () => ({ output, errors }) };
}

/** Where a user with this home has them. */
const profilesPath = ({ HOME = '/nowhere', XDG_CONFIG_HOME }: Readonly<Record<string, string>>) =>
  join(XDG_CONFIG_HOME ?? join(HOME, '.config'), 'tagcast', 'profiles.json');

function commandNamed(
  name: string | undefined,
  read: ConfigResult,
  requireConfig: () => Promise<Config>,
  terminal: Terminal,
  publisher: PublisherContext,
): Command {
  const operator: OperatorContext = {
    terminal,
    open: async () => openOperator(await requireConfig()),
  };
  switch (name) {
    case 'app':
      return appCommand(operator, publisher);
    case 'attribute':
      return attributeCommand(publisher);
    case 'client':
      return clientCommand(operator);
    case 'credential':
      return credentialCommand(operator);
    case 'demo':
      return demoCommand(requireConfig, terminal);
    case 'device':
      return deviceCommand(publisher);
    case 'devices':
      return devicesCommand(operator, publisher.signals);
    case 'doctor':
      return doctorCommand(
        async (asksProviders) =>
          read.ok ? examine(read.config, asksProviders) : settingsFindings(read.faults),
        terminal,
      );
    case 'explain':
      return explainCommand(publisher);
    case 'group':
      return groupCommand(publisher);
    case 'index':
      return indexCommand({ terminal, open: async () => openIndex(await requireConfig()) });
    case 'member':
      return memberCommand(operator);
    case 'notification':
      return notificationCommand(publisher);
    case 'profile':
      return profileCommand(publisher);
    case 'secret-key':
      return secretKeyCommand(operator);
    case 'segment':
      return segmentCommand(publisher);
    case 'send':
      return sendCommand(publisher);
    case 'status':
      return statusCommand(publisher);
    case 'store':
      return storeCommand({
        terminal,
        move: async (to, report) => moveStore(to, await requireConfig(), report),
      });
    case 'tag':
      return tagCommand(publisher);
    case 'policy':
      return policyCommand(publisher);
    default:
      throw new Error(`${name} is not run here: runCommand runs every command`);
  }
}
