/** `tagcast app …`: apps of a client and their providers' credentials. */

import { readFile } from 'node:fs/promises';
import { PLATFORM_APNS, PLATFORM_FCM } from '../domain/device.ts';
import type { Command } from './command.ts';
import type { AddedApp } from './operator-actions.ts';
import type { Errand, OperatorContext } from './operator-command.ts';
import {
  describeCredential,
  readFlags,
  readNumber,
  readPositionals,
  runErrand,
  UsageError,
} from './operator-command.ts';

const USAGE = `tagcast app add <client-id> <name> --platform <3|7|15> [--platform …]
tagcast app list <client-id>
tagcast app credentials <app-id> apns --team-id <id> --key-id <id> --key-file <file.p8> --bundle-id <id> [--sandbox]
tagcast app credentials <app-id> fcm --service-account-file <file.json>
tagcast app credentials <app-id> apns|fcm --remove`;

/** Makes the command. */
export const appCommand = (context: OperatorContext): Command => ({
  name: 'app',
  summary: "Add and list apps; set their providers' credentials.",
  usage: USAGE,
  run: (args) => runErrand(context, USAGE, args, plan),
});

function plan(verb: string, args: readonly string[]): Errand<never> | Promise<Errand<never>> {
  switch (verb) {
    case 'add':
      return planAdd(args);
    case 'list': {
      const { client } = readPositionals(readFlags(args, {}).positionals, ['client']);
      return { action: 'app.list', input: { client }, describe: describeApps };
    }
    case 'credentials':
      return planCredentials(args);
    default:
      throw new UsageError(`app needs add, list or credentials\n${USAGE}`);
  }
}

function planAdd(args: readonly string[]): Errand<never> {
  const { values, positionals } = readFlags(args, {
    platform: { type: 'string', multiple: true },
  });
  const { client, name } = readPositionals(positionals, ['client', 'name']);
  const platformIds = (values.platform ?? []).map((text) => readNumber('--platform', text));
  if (platformIds.length === 0) throw new UsageError('--platform is missing');
  return {
    action: 'app.add',
    input: { client, name, platformIds },
    describe: (added: AddedApp) =>
      describeCredential(
        `App ${added.appId} on ${added.platformIds.join(', ')}. Subscriptions API:`,
        added.credential,
      ),
  };
}

async function planCredentials(args: readonly string[]): Promise<Errand<never>> {
  const { values, positionals } = readFlags(args, {
    'team-id': { type: 'string' },
    'key-id': { type: 'string' },
    'key-file': { type: 'string' },
    'bundle-id': { type: 'string' },
    sandbox: { type: 'boolean' },
    'service-account-file': { type: 'string' },
    remove: { type: 'boolean' },
  });
  const { app, provider } = readPositionals(positionals, ['app', 'provider']);
  const appId = readNumber('<app-id>', app);
  const platformId = platformOf(provider);
  const credential = values.remove
    ? null
    : await (platformId === PLATFORM_APNS ? readApns(values) : readFcm(values));
  return {
    action: 'app.credential',
    input: { appId, platformId, credential },
    describe: () =>
      credential === null
        ? `App ${appId} has no ${provider} credentials now.`
        : `App ${appId} has ${provider} credentials.`,
  };
}

function platformOf(provider: string): typeof PLATFORM_APNS | typeof PLATFORM_FCM {
  if (provider === 'apns') return PLATFORM_APNS;
  if (provider === 'fcm') return PLATFORM_FCM;
  throw new UsageError(`the provider is apns or fcm, not ${provider}`);
}

type Values = Readonly<Record<string, string | boolean | undefined>>;

async function readApns(values: Values): Promise<unknown> {
  return {
    teamId: required(values, 'team-id'),
    keyId: required(values, 'key-id'),
    bundleId: required(values, 'bundle-id'),
    environment: values['sandbox'] === true ? 'sandbox' : 'production',
    privateKey: await readText(required(values, 'key-file')),
  };
}

async function readFcm(values: Values): Promise<unknown> {
  const path = required(values, 'service-account-file');
  const text = await readText(path);
  try {
    return { serviceAccount: JSON.parse(text) };
  } catch (error) {
    throw new UsageError(`${path} is not JSON`, { cause: error });
  }
}

function required(values: Values, flag: string): string {
  const value = values[flag];
  if (typeof value !== 'string') throw new UsageError(`--${flag} is missing`);
  return value;
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new UsageError(`cannot read ${path}`, { cause: error });
  }
}

const describeApps = (
  apps: readonly {
    readonly id: number;
    readonly name: string;
    readonly platforms: readonly {
      readonly platformId: number;
      readonly hasCredential: boolean;
    }[];
  }[],
): string =>
  apps
    .map(({ id, name, platforms }) => {
      const states = platforms.map(
        ({ platformId, hasCredential }) =>
          `${platformId} (${hasCredential ? 'has' : 'no'} credentials)`,
      );
      return `${id}\t${name}\t${states.join(', ')}`;
    })
    .join('\n');
