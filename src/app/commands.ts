/** The list of all commands, each loaded when it is run: the whole program takes a second. */

import type { ListedCommand } from '../cli/completion.ts';
import type { OperatorContext } from '../cli/operator-command.ts';
import { processTerminal } from '../cli/process-terminal.ts';
import type { StoreContext } from '../cli/store.ts';
import type { Config } from './config.ts';

type RequireConfig = () => Promise<Config>;

/** The commands, which read the configuration when they need it. */
export function listCommands(requireConfig: RequireConfig): readonly ListedCommand[] {
  const commands: readonly ListedCommand[] = [
    ...serviceCommands(requireConfig),
    ...publisherCommands,
    ...operatorCommands(requireConfig),
    ...machineCommands(requireConfig),
    {
      name: 'completion',
      summary: 'Print the script that completes these commands in bash, zsh or fish.',
      load: async () =>
        (await import('../cli/completion.ts')).completionCommand(commands, processTerminal),
    },
  ];
  return commands;
}

/** Start what runs until it is stopped, or what it needs. */
const serviceCommands = (requireConfig: RequireConfig): readonly ListedCommand[] => [
  {
    name: 'serve',
    summary: 'Run the service (the default command).',
    load: async () =>
      (await import('./serve-command.ts')).serveCommand(requireConfig, processTerminal),
  },
  {
    name: 'simulate',
    summary: 'Run a simulated APNs, FCM, Google token endpoint and Web Push service.',
    load: async () => (await import('../cli/simulate.ts')).simulateCommand,
  },
  {
    name: 'demo',
    summary: 'Create the demo client in a PostgreSQL, for a simulator that runs on its own.',
    load: async () =>
      (await import('./demo/demo-command.ts')).demoCommand(requireConfig, processTerminal),
  },
];

const publisher = async () => (await import('./open/publisher-context.ts')).publisherContext();

/** Call the API of an engine, as a publisher. */
const publisherCommands: readonly ListedCommand[] = [
  {
    name: 'profile',
    summary: 'Say which engine the commands for publishers call, and as whom.',
    load: async () =>
      (await import('../cli/publisher/profile.ts')).profileCommand(await publisher()),
  },
  {
    name: 'send',
    summary: 'Send a push to the devices of tags.',
    load: async () => (await import('../cli/publisher/send.ts')).sendCommand(await publisher()),
  },
  {
    name: 'status',
    summary: 'Tell how a push stands; --watch follows it.',
    load: async () => (await import('../cli/publisher/status.ts')).statusCommand(await publisher()),
  },
  {
    name: 'notification',
    summary: 'List, cancel, pause and resume pushes.',
    load: async () =>
      (await import('../cli/publisher/notification.ts')).notificationCommand(await publisher()),
  },
  {
    name: 'tag',
    summary: 'List, show, add, update and delete tags.',
    load: async () => (await import('../cli/publisher/tag.ts')).tagCommand(await publisher()),
  },
  {
    name: 'group',
    summary: 'List, add, update and delete groups of tags.',
    load: async () => (await import('../cli/publisher/group.ts')).groupCommand(await publisher()),
  },
  {
    name: 'segment',
    summary: 'List, show, add, update, delete and count segments.',
    load: async () =>
      (await import('../cli/publisher/segment.ts')).segmentCommand(await publisher()),
  },
  {
    name: 'policy',
    summary: 'Show and set the categories of pushes, and their caps.',
    load: async () => (await import('../cli/publisher/policy.ts')).policyCommand(await publisher()),
  },
  {
    name: 'attribute',
    summary: 'List, declare, update and delete attributes of devices; list their values.',
    load: async () =>
      (await import('../cli/publisher/attribute.ts')).attributeCommand(await publisher()),
  },
  {
    name: 'device',
    summary: 'Look up, erase, register and unregister one device.',
    load: async () => (await import('../cli/publisher/device.ts')).deviceCommand(await publisher()),
  },
  {
    name: 'explain',
    summary: 'Explain why a device got, or did not get, a push.',
    load: async () =>
      (await import('../cli/publisher/explain.ts')).explainCommand(await publisher()),
  },
];

/** Change what the operator alone may change, in the running engine or in the database. */
function operatorCommands(requireConfig: RequireConfig): readonly ListedCommand[] {
  const operator: OperatorContext = {
    open: async () => {
      const config = await requireConfig();
      const { openOperator } = await import('./open/open-operator.ts');
      return openOperator(config);
    },
    terminal: processTerminal,
  };
  return [
    {
      name: 'client',
      summary: 'Add, list, disable and enable clients (tenants).',
      load: async () => (await import('../cli/client.ts')).clientCommand(operator),
    },
    {
      name: 'app',
      summary: "Add and list apps; set their providers' credentials.",
      load: async () => (await import('../cli/app.ts')).appCommand(operator, await publisher()),
    },
    {
      name: 'credential',
      summary: 'Show and rotate the credentials of a client or an app.',
      load: async () => (await import('../cli/credential.ts')).credentialCommand(operator),
    },
    {
      name: 'member',
      summary: "Invite and list a client's members in the console; reset passwords.",
      load: async () => (await import('../cli/member.ts')).memberCommand(operator),
    },
    {
      name: 'operator',
      summary: "Add and list the operator's accounts in the console; invite new clients.",
      load: async () => (await import('../cli/operator.ts')).operatorCommand(operator),
    },
    {
      name: 'secret-key',
      summary: 'Bring everything under a new SECRET_KEY.',
      load: async () => (await import('../cli/secret-key.ts')).secretKeyCommand(operator),
    },
    {
      name: 'deletions',
      summary: 'List, release and discard held deletions of devices.',
      load: async () => (await import('../cli/deletions.ts')).deletionsCommand(operator),
    },
    {
      name: 'parked',
      summary: 'List and release parked parts: those of a send that could not be completed.',
      load: async () => (await import('../cli/parked.ts')).parkedCommand(operator),
    },
    {
      name: 'devices',
      summary: "Export and import an app's devices.",
      load: async () =>
        (await import('../cli/devices/devices.ts')).devicesCommand(operator, process),
    },
  ];
}

/** Look after a deployment, on its machine. */
function machineCommands(requireConfig: RequireConfig): readonly ListedCommand[] {
  const index = {
    open: async () => {
      const config = await requireConfig();
      const { openIndex } = await import('./open/open-index.ts');
      return openIndex(config);
    },
    terminal: processTerminal,
  };
  const store: StoreContext = {
    move: async (to, report) => {
      const config = await requireConfig();
      const { moveStore } = await import('./open/open-move.ts');
      return moveStore(to, config, report);
    },
    terminal: processTerminal,
  };
  const examine = async (asksProviders: boolean) => {
    const [{ readConfig }, doctor] = await Promise.all([
      import('./config.ts'),
      import('./open/open-doctor.ts'),
    ]);
    const read = readConfig();
    return read.ok
      ? doctor.examine(await requireConfig(), asksProviders)
      : doctor.settingsFindings(read.faults);
  };
  return [
    {
      name: 'index',
      summary: 'Verify and rebuild the tag index in Redis.',
      load: async () => (await import('../cli/index-command.ts')).indexCommand(index),
    },
    {
      name: 'store',
      summary: 'Move everything from the embedded database to a PostgreSQL, or back.',
      load: async () => (await import('../cli/store.ts')).storeCommand(store),
    },
    {
      name: 'doctor',
      summary: 'Check a deployment, and say what to do.',
      load: async () => (await import('../cli/doctor.ts')).doctorCommand(examine, processTerminal),
    },
    {
      name: 'fetch',
      summary: 'Fetch one URL with our own HTTP/2 client.',
      load: async () => (await import('../cli/fetch.ts')).fetchCommand,
    },
  ];
}
