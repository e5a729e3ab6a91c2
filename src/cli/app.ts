/** `tagcast app …`: apps of a client and their providers' credentials. */

import { readFile } from 'node:fs/promises';
import type { PlatformId } from '../domain/device.ts';
import { PLATFORM_IDS, platformNamed } from '../domain/device.ts';
import type { AddedApp, PutCredential } from '../operator/operator-actions.ts';
import type { GivenFlags } from '../providers/credential-flags.ts';
import { faultSentence } from '../providers/fault-sentence.ts';
import { PROVIDERS } from '../providers/providers.ts';
import type { CredentialState } from '../store/health/read-credential-states.ts';
import { readNumber, required, UsageError } from './arguments.ts';
import type { Command, Flag } from './command.ts';
import { verb } from './command.ts';
import type { OperatorContext, Plan } from './operator-command.ts';
import { describeCredential, errandCommand } from './operator-command.ts';
import { makeVapidKeys } from './web-push-keys.ts';

const ALL = Object.values(PROVIDERS).toSorted((a, b) => a.kind.localeCompare(b.kind));
const NAMES = ALL.map(({ kind }) => kind);

const APP = { name: 'app' } as const;
const KIND_COLUMNS = 9;
const PROVIDER = { name: 'provider', choices: NAMES } as const;

/** Whose flags they are is told with them; one may be of several. */
const CREDENTIAL_FLAGS: Readonly<Record<string, Flag>> = Object.fromEntries(
  ALL.flatMap(({ credentialFlags }) => Object.entries(credentialFlags.flags)).map(
    ([name, flag]) => {
      const owners = ALL.filter(({ credentialFlags }) => name in credentialFlags.flags);
      const kinds = owners.map(({ kind }) => kind).join(', ');
      return [name, { ...flag, about: `${kinds}: ${flag.about}` }];
    },
  ),
);

const TERM_FLAGS = {
  'grace-hours': {
    type: 'string',
    value: '0–168',
    about: 'how long the previous one is kept (72)',
  },
  expires: { type: 'string', value: 'date', about: 'the log warns 30, 7 and 1 days before it' },
  remove: { type: 'boolean', about: 'remove the credential instead' },
} as const;

const CREDENTIAL_NOTES = `${ALL.map(({ kind, credentialFlags }) => `  ${kind.padEnd(KIND_COLUMNS)}${credentialFlags.usage}`).join('\n')}

The credential is stored, and checked with the provider. When it replaces one of the same team and app, or project, the previous
one is kept for --grace-hours, and used when the provider refuses the new one. Exit code 1: the provider refuses the new one; it
is stored all the same.`;

/** Makes the command. */
export const appCommand = (context: OperatorContext): Command =>
  errandCommand(context, {
    name: 'app',
    verbs: {
      add: verb(
        {
          summary: "Adds an app to a client, prints its API user's credentials.",
          arguments: ['client', 'name'],
          flags: {
            platform: {
              type: 'string',
              multiple: true,
              choices: PLATFORM_IDS.map(String),
              about: 'a platform of the app',
            },
          },
        },
        ({ client, name }, { platform = [] }) => planAdd(client, name, platform),
      ),
      list: verb(
        { summary: 'Lists the apps of a client.', arguments: ['client'] },
        ({ client }) => ({
          action: 'app.list',
          input: { client },
          describe: describeApps,
        }),
      ),
      show: verb(
        { summary: "Tells how an app's credentials stand.", arguments: [APP] },
        ({ app }) => ({
          action: 'app.show',
          input: { appId: readNumber('<app>', app) },
          describe: describeStates,
        }),
      ),
      check: verb(
        {
          summary: 'Asks the provider whether it accepts the credential.',
          arguments: [APP, PROVIDER],
        },
        ({ app, provider }) => ({
          action: 'app.check',
          input: { appId: readNumber('<app>', app), platformId: platformOf(provider) },
          describe: (note: string) => note,
        }),
      ),
      credentials: verb(
        {
          summary: "Stores an app's credential for a provider.",
          arguments: [APP, PROVIDER],
          flags: { ...CREDENTIAL_FLAGS, ...TERM_FLAGS },
          notes: CREDENTIAL_NOTES,
        },
        ({ app, provider }, flags) => planCredentials(app, provider, flags as Values),
      ),
      vapid: verb(
        {
          summary: 'Creates a key pair for Web Push; needs no engine.',
          flags: {
            output: {
              type: 'string',
              value: 'file',
              about: 'a new file for the keys, readable by its owner only; else they are printed',
            },
          },
        },
        (_, { output }) => makeVapidKeys(output),
      ),
    },
  });

function planAdd(client: string, name: string, platforms: readonly string[]): Plan {
  const platformIds = platforms.map((text) => readNumber('--platform', text));
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

type Values = Readonly<Record<string, string | boolean | undefined>>;

async function planCredentials(app: string, provider: string, values: Values): Promise<Plan> {
  const appId = readNumber('<app>', app);
  const platformId = platformOf(provider);
  const credential =
    values['remove'] === true
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

const givenIn = (values: Values): GivenFlags => ({
  isSet: (flag) => values[flag] !== undefined,
  text: (flag) => required(flag, values[flag] as string | undefined),
  readFile: readText,
  refuse(sentence) {
    throw new UsageError(sentence);
  },
});

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
