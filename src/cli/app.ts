/** `tagcast app …`: apps of a client and their providers' credentials. */

import { readFile } from 'node:fs/promises';
import type { PlatformId } from '../domain/device.ts';
import { PLATFORM_IDS, platformNamed } from '../domain/device.ts';
import type { AddedApp, PutCredential } from '../operator/operator-actions.ts';
import type { CredentialFlags, GivenFlags } from '../providers/credential-flags.ts';
import { faultSentence } from '../providers/fault-sentence.ts';
import { PROVIDERS } from '../providers/providers.ts';
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
import { makeVapidKeys } from './web-push-keys.ts';

const ALL = Object.values(PROVIDERS).toSorted((a, b) => a.kind.localeCompare(b.kind));
const NAMES = ALL.map(({ kind }) => kind);

const USAGE = `tagcast app add <client-id> <name> --platform <${PLATFORM_IDS.join('|')}> [--platform …]
tagcast app list <client-id>
tagcast app show <app-id>
tagcast app check <app-id> ${NAMES.join('|')}
${ALL.map(({ kind, credentialFlags }) => `tagcast app credentials <app-id> ${kind} ${credentialFlags.usage}`).join('\n')}
       [--grace-hours <0–168>] [--expires <date>]
tagcast app credentials <app-id> ${NAMES.join('|')} --remove
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

function planAdd(args: readonly string[]): Errand {
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

async function planCredentials(args: readonly string[]): Promise<Errand> {
  const { values, positionals } = readFlags(args, {
    ...CREDENTIAL_FLAGS,
    'grace-hours': { type: 'string' },
    expires: { type: 'string' },
    remove: { type: 'boolean' },
  });
  const { app, provider } = readPositionals(positionals, ['app', 'provider']);
  const appId = readNumber('<app-id>', app);
  const platformId = platformOf(provider);
  const credential = values.remove
    ? null
    : await PROVIDERS[platformId].credentialFlags.read(givenIn(values));
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
  const platformId = platformNamed(provider);
  if (platformId !== null) return platformId;
  throw new UsageError(`the provider is ${OR.format(NAMES)}, not ${provider}`);
}

const OR = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** Only the given flags: the others get their defaults where they are stored. */
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

const CREDENTIAL_FLAGS: CredentialFlags['flags'] = Object.fromEntries(
  ALL.flatMap(({ credentialFlags }) => Object.entries(credentialFlags.flags)),
);

const givenIn = (values: Values): GivenFlags => ({
  isSet: (flag) => values[flag] !== undefined,
  text: (flag) => required(values, flag),
  readFile: readText,
  refuse(sentence) {
    throw new UsageError(sentence);
  },
});

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

/** A list mentions only problems. */
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
