/** `tagcast app …`: apps of a client and their providers' credentials. */

import { readFile } from 'node:fs/promises';
import type { PlatformId } from '../domain/device.ts';
import { PLATFORM_APNS, PLATFORM_FCM, PLATFORM_WEB_PUSH } from '../domain/device.ts';
import { faultSentence } from '../domain/fault-sentence.ts';
import type { AddedApp, PutCredential } from '../operator/operator-actions.ts';
import { parseJson } from '../std/json.ts';
import type { CredentialState } from '../store/health/read-credential-states.ts';
import type { Command } from './command.ts';
import type { Errand, OperatorContext, Plan } from './operator-command.ts';
import {
  describeCredential,
  readFlags,
  readNumber,
  readPositionals,
  runErrand,
  UsageError,
} from './operator-command.ts';
import { makeVapidKeys, readWebPush } from './web-push-keys.ts';

const USAGE = `tagcast app add <client-id> <name> --platform <3|7|15> [--platform …]
tagcast app list <client-id>
tagcast app show <app-id>
tagcast app check <app-id> apns|fcm|webpush
tagcast app credentials <app-id> apns --team-id <id> --key-id <id> --key-file <file.p8> --bundle-id <id> [--sandbox]
tagcast app credentials <app-id> fcm --service-account-file <file.json>
tagcast app credentials <app-id> webpush [--vapid-file <keys.json|key.pem> --subject <mailto:…|https://…>] [--service-account-file <file.json>]
       [--grace-hours <0–168>] [--expires <date>]
tagcast app credentials <app-id> apns|fcm|webpush --remove
tagcast app vapid [--output <file>]             creates a key pair for Web Push; creates the file, readable by its owner only

credentials stores a credential and checks it with the provider. When it replaces one of the same team and app, or project, the previous
one is kept for --grace-hours (default 72) and used when the provider refuses the new one. Exit code 1: the provider refuses the new
one; it is stored all the same. With --expires, the log warns 30, 7 and 1 days before the date.`;

/** Makes the command. */
export const appCommand = (context: OperatorContext): Command => ({
  usage: USAGE,
  run: (args) => runErrand(context, USAGE, args, plan),
});

function plan(verb: string, args: readonly string[]): Plan | Promise<Plan> {
  switch (verb) {
    case 'add':
      return planAdd(args);
    case 'list': {
      const { client } = readPositionals(readFlags(args, {}).positionals, ['client']);
      return { action: 'app.list', input: { client }, describe: describeApps };
    }
    case 'show': {
      const { app } = readPositionals(readFlags(args, {}).positionals, ['app']);
      return {
        action: 'app.show',
        input: { appId: readNumber('<app-id>', app) },
        describe: describeStates,
      };
    }
    case 'check': {
      const { app, provider } = readPositionals(readFlags(args, {}).positionals, [
        'app',
        'provider',
      ]);
      const appId = readNumber('<app-id>', app);
      return {
        action: 'app.check',
        input: { appId, platformId: platformOf(provider) },
        describe: (note: string) => note,
      };
    }
    case 'credentials':
      return planCredentials(args);
    case 'vapid':
      return makeVapidKeys(args);
    default:
      throw new UsageError(`app needs add, list, show, check, credentials or vapid\n${USAGE}`);
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
    'vapid-file': { type: 'string' },
    subject: { type: 'string' },
    'grace-hours': { type: 'string' },
    expires: { type: 'string' },
    remove: { type: 'boolean' },
  });
  const { app, provider } = readPositionals(positionals, ['app', 'provider']);
  const appId = readNumber('<app-id>', app);
  const platformId = platformOf(provider);
  const credential = values.remove ? null : await READERS[platformId](values);
  return {
    action: 'app.credential',
    input: { appId, platformId, credential, ...termsOf(values) },
    failed: ({ checked }: PutCredential) => checked?.isHealthy === false,
    describe: ({ checked, publicNote }: PutCredential) =>
      checked === null
        ? `App ${appId} has no ${provider} credentials now.`
        : [
            `App ${appId} has ${provider} credentials. ${checked.note}`,
            ...(publicNote === null ? [] : [publicNote]),
          ].join('\n'),
  };
}

function platformOf(provider: string): PlatformId {
  if (provider === 'apns') return PLATFORM_APNS;
  if (provider === 'fcm') return PLATFORM_FCM;
  if (provider === 'webpush') return PLATFORM_WEB_PUSH;
  throw new UsageError(`the provider is apns, fcm or webpush, not ${provider}`);
}

/** Only what was given: the rest has its defaults where it is stored. */
function termsOf(values: Values): { readonly graceHours?: number; readonly expiresAtMs?: number } {
  const { 'grace-hours': grace, expires } = values;
  return {
    ...(typeof grace === 'string' ? { graceHours: readNumber('--grace-hours', grace) } : {}),
    ...(typeof expires === 'string' ? { expiresAtMs: readDate(expires) } : {}),
  };
}

function readDate(text: string): number {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new UsageError(`--expires must be a date, not ${text}`);
  return ms;
}

type Values = Readonly<Record<string, string | boolean | undefined>>;

const READERS: Readonly<Record<PlatformId, (values: Values) => Promise<unknown>>> = {
  [PLATFORM_APNS]: readApns,
  [PLATFORM_FCM]: readFcm,
  [PLATFORM_WEB_PUSH]: async (values) => {
    const path = values['vapid-file'];
    const keys = typeof path === 'string' ? { path, text: await readText(path) } : null;
    const subject = typeof values['subject'] === 'string' ? values['subject'] : undefined;
    const hasAccount = values['service-account-file'] !== undefined;
    return readWebPush(keys, subject, hasAccount ? await readFcm(values) : null);
  },
};

async function readApns(values: Values): Promise<unknown> {
  return {
    teamId: required(values, 'team-id'),
    keyId: required(values, 'key-id'),
    bundleId: required(values, 'bundle-id'),
    environment: values['sandbox'] === true ? 'sandbox' : 'production',
    privateKey: await readText(required(values, 'key-file')),
  };
}

async function readFcm(values: Values): Promise<object> {
  const path = required(values, 'service-account-file');
  const text = await readText(path);
  const serviceAccount = parseJson(text);
  if (serviceAccount === undefined) throw new UsageError(`${path} is not JSON`);
  return { serviceAccount };
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
      readonly isRefused: boolean;
      readonly isHealthy: boolean | null;
    }[];
  }[],
): string =>
  apps
    .map(({ id, name, platforms }) => {
      const states = platforms.map(
        ({ platformId, hasCredential, ...known }) =>
          `${platformId} (${hasCredential ? `has credentials${troubleOf(known)}` : 'no credentials'})`,
      );
      return `${id}\t${name}\t${states.join(', ')}`;
    })
    .join('\n');

/** Only trouble is worth a word in a list. */
function troubleOf(known: {
  readonly isRefused: boolean;
  readonly isHealthy: boolean | null;
}): string {
  if (known.isRefused) return ', the provider refuses the new ones';
  return known.isHealthy === false ? ', which do not work' : '';
}

const describeStates = (states: readonly CredentialState[]): string =>
  states
    .map((state) => [`Platform ${state.platformId}`, ...linesOf(state)].join('\n  '))
    .join('\n');

function linesOf(state: CredentialState): readonly string[] {
  if (!state.hasCredential) return ['no credentials'];
  const { refusedReason, fallbackUntilMs, expiresAtMs, checkedAtMs, checkNote, fault } = state;
  const lines = [`stored ${timeOf(state.updatedAtMs)}`];
  if (refusedReason !== null)
    lines.push(`REFUSED by the provider: ${faultSentence(refusedReason)}`);
  if (fallbackUntilMs !== null) {
    const use = refusedReason === null ? 'can be used' : 'is used';
    lines.push(`the previous one ${use} until ${timeOf(fallbackUntilMs)}`);
  }
  if (expiresAtMs !== null) lines.push(`expires ${timeOf(expiresAtMs)}`);
  lines.push(
    checkNote === null ? 'never checked' : `checked ${timeOf(checkedAtMs)}: ${checkNote}`,
    `last accepted a send ${timeOf(state.acceptedAtMs)}`,
  );
  if (fault !== null) {
    lines.push(`last fault of a send ${timeOf(state.faultAtMs)}: ${faultSentence(fault)}`);
  }
  return lines;
}

const timeOf = (ms: number | null): string => (ms === null ? 'never' : new Date(ms).toISOString());
