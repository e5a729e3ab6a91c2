/** `tagcast app …`: apps of a client and their providers' credentials. */

import { readFile } from 'node:fs/promises';
import { withoutMark } from '../../packages/std/src/json.ts';
import type { GivenFlags } from '../providers/credential-flags.ts';
import { PROVIDERS } from '../providers/providers.ts';
import {
  PLATFORM_FLAG,
  readNumber,
  readPlatform,
  readTime,
  required,
  UsageError,
} from './arguments.ts';
import type { Command, Flag } from './command.ts';
import { createCommand, verb, withJson } from './command.ts';
import * as operators from './operator-app.ts';
import type { OperatorContext, Plan } from './operator-command.ts';
import { carryOutPlan } from './operator-command.ts';
import {
  addApp,
  checkCredential,
  deleteApp,
  listApps,
  putCredential,
  removeCredential,
  showApp,
  updateApp,
} from './publisher/app.ts';
import type { PublisherContext, Work } from './publisher/publisher-command.ts';
import { callEngine } from './publisher/publisher-command.ts';
import { makeVapidKeys } from './web-push-keys.ts';

const ALL = Object.values(PROVIDERS).toSorted((a, b) => a.kind.localeCompare(b.kind));
const NAMES = ALL.map(({ kind }) => kind);

const APP = { name: 'app' } as const;
const KIND_COLUMNS = 9;
const PROVIDER = {
  name: 'provider',
  choices: NAMES,
  alsoTakes: PLATFORM_FLAG.alsoTakes,
} as const;

/** The help names the providers of each flag; a flag may have several. */
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

const CLIENT = { name: 'client', isOfProfile: true } as const;
const PROFILE = {
  profile: {
    type: 'string',
    value: 'name',
    about: 'as the client of this profile, over HTTP; <client> is left out then',
  },
} as const;
const PLATFORM = {
  platform: {
    ...PLATFORM_FLAG,
    multiple: true,
    about: 'a platform of the app',
  },
} as const;

const NOTES = `With --profile a verb calls an engine over HTTP, as the client of that profile: with its rights, and with the JSON of the Admin
API. Without it, it is the operator's: on the machine of an engine, with its DATABASE_URL, or with OPERATOR_URL.`;

/** Makes the command: an operator's, and with `--profile` a publisher's. */
export const appCommand = (operator: OperatorContext, publisher: PublisherContext): Command =>
  createCommand<Plan | Work>(
    { name: 'app', notes: NOTES, verbs: withJson(VERBS) },
    operator.terminal,
    (work, form) =>
      typeof work === 'function'
        ? callEngine(publisher, work, form)
        : carryOutPlan(operator, work, form),
  );

const VERBS = {
  add: verb(
    {
      summary: "Adds an app to a client, prints its API user's credentials.",
      arguments: [CLIENT, 'name'],
      flags: { ...PLATFORM, ...PROFILE },
    },
    ({ client, name }, { platform = [] }): Plan | Work => planAdd(client, name, platform),
  ),
  list: verb(
    { summary: 'Lists the apps of a client.', arguments: [CLIENT], flags: PROFILE },
    ({ client }): Plan | Work => (client === undefined ? listApps : operators.listApps(client)),
  ),
  show: verb(
    {
      summary: "Shows the state of an app's credentials.",
      arguments: [APP],
      flags: PROFILE,
    },
    ({ app }, { profile }): Plan | Work => {
      const appId = readNumber('<app>', app);
      return profile === undefined ? operators.showApp(appId) : showApp(appId);
    },
  ),
  update: verb(
    {
      summary: 'Renames an app, or puts it on further platforms; needs --profile.',
      arguments: [APP],
      flags: { name: { type: 'string', about: 'its name' }, ...PLATFORM, ...PROFILE },
    },
    ({ app }, { name, platform = [], profile }): Work => {
      const appId = readNumber('<app>', app);
      required('profile', profile);
      return updateApp(appId, name, readPlatforms(platform));
    },
  ),
  delete: verb(
    {
      summary: 'Deletes an app with its devices, for good; needs --profile.',
      arguments: [APP],
      flags: {
        confirm: { type: 'string', value: 'name', about: 'the name of the app: it is this one' },
        ...PROFILE,
      },
    },
    ({ app }, { confirm, profile }): Work => {
      const appId = readNumber('<app>', app);
      required('profile', profile);
      return deleteApp(appId, confirm);
    },
  ),
  check: verb(
    {
      summary: 'Asks the provider whether it accepts the credential.',
      arguments: [APP, PROVIDER],
      flags: PROFILE,
    },
    ({ app, provider }, { profile }): Plan | Work => {
      const scope = { appId: readNumber('<app>', app), platformId: readPlatform(provider) };
      return profile === undefined ? operators.checkCredential(scope) : checkCredential(scope);
    },
  ),
  credentials: verb(
    {
      summary: "Stores an app's credential for a provider.",
      arguments: [APP, PROVIDER],
      flags: { ...CREDENTIAL_FLAGS, ...TERM_FLAGS, ...PROFILE },
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
    (_, { output }): Promise<Plan> => makeVapidKeys(output),
  ),
};

const readPlatforms = (texts: readonly string[]): readonly number[] => texts.map(readPlatform);

function planAdd(
  client: string | undefined,
  name: string,
  platforms: readonly string[],
): Plan | Work {
  const platformIds = readPlatforms(platforms);
  if (platformIds.length === 0) throw new UsageError('--platform is missing');
  const app = { name, platformIds };
  return client === undefined ? addApp(app) : operators.addApp(client, app);
}

type Values = Readonly<Record<string, string | boolean | undefined>>;

async function planCredentials(
  app: string,
  provider: string,
  values: Values,
): Promise<Plan | Work> {
  const appId = readNumber('<app>', app);
  const platformId = readPlatform(provider);
  const { kind, credentialFlags } = PROVIDERS[platformId];
  const credential = values['remove'] === true ? null : await credentialFlags.read(givenIn(values));
  const scope = { appId, platformId };
  if (values['profile'] !== undefined) {
    return credential === null
      ? removeCredential(scope)
      : putCredential(scope, { ...(credential as object), ...termsOf(values) });
  }
  return credential === null
    ? operators.removeCredential(scope, kind)
    : operators.putCredential(scope, kind, credential as object, termsOf(values));
}

/** Only the given flags: the others get their defaults where they are stored. */
function termsOf(values: Values): { readonly graceHours?: number; readonly expiresAtMs?: number } {
  const { 'grace-hours': grace, expires } = values;
  return {
    ...(typeof grace === 'string' ? { graceHours: readNumber('--grace-hours', grace) } : {}),
    ...(typeof expires === 'string' ? { expiresAtMs: readTime('--expires', expires) } : {}),
  };
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
    return withoutMark(await readFile(path, 'utf8'));
  } catch (error) {
    throw new UsageError(`cannot read ${path}`, { cause: error });
  }
}
