/** `tagcast profile …`: which engine a publisher's commands call, and as whom. */

import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { tableRow } from '../../std/visible-text.ts';
import { readNumber, required, UsageError } from '../arguments.ts';
import type { Command } from '../command.ts';
import { createCommand, EXIT_FAILED, printedJson, verb, withJson } from '../command.ts';
import type { Profile, Profiles } from './profiles.ts';
import { readProfiles, writeProfiles } from './profiles.ts';
import type { Outcome, PublisherContext } from './publisher-command.ts';
import { DEMO } from './publisher-command.ts';

const NOTES = `Profiles are kept in tagcast/profiles.json of XDG_CONFIG_HOME (~/.config), readable by their owner only. The demo that \`npm start\` runs
is the profile demo, without being added, for commands that run in the same folder.`;

const ADD_FLAGS = {
  url: { type: 'string', value: 'address', about: 'of the engine, as https://push.example.com' },
  client: { type: 'string', value: 'client', about: 'the id of the client' },
  'token-file': {
    type: 'string',
    value: 'file',
    default: '-',
    about: 'holds the token, tcs_… or tck_…; - is standard input',
  },
  app: { type: 'string', value: 'app', about: 'an app, for device register and unregister' },
  'app-token-file': { type: 'string', value: 'file', about: "holds that app's token, tca_…" },
} as const;

type Work = (path: string) => Promise<Outcome>;

export const profileCommand = ({
  terminal,
  profilesPath,
  readDemo,
}: Pick<PublisherContext, 'terminal' | 'profilesPath' | 'readDemo'>): Command =>
  createCommand<Work>(
    {
      name: 'profile',
      notes: NOTES,
      verbs: withJson({
        add: verb(
          {
            summary: 'Adds a profile, or replaces it; the first one is used from then on.',
            arguments: ['name'],
            flags: ADD_FLAGS,
            notes: NOTES,
          },
          async ({ name }, flags): Promise<Work> => {
            const profile = await makeProfile(flags);
            return (path) => add(path, name, profile);
          },
        ),
        list: verb(
          { summary: 'Lists the profiles, without their tokens.' },
          (): Work => async (path) => list(await readProfiles(path), await readDemo()),
        ),
        use: verb(
          { summary: 'Uses this profile where a command names none.', arguments: ['name'] },
          ({ name }): Work =>
            async (path) =>
              use(path, name, await readDemo()),
        ),
        remove: verb(
          { summary: 'Removes a profile with its tokens.', arguments: ['name'] },
          ({ name }): Work =>
            (path) =>
              remove(path, name),
        ),
      }),
    },
    terminal,
    async (work, { isJson }) => {
      const { value, text, exitCode = 0 } = await work(profilesPath);
      if (exitCode !== 0) terminal.complain(text);
      else terminal.print(isJson ? printedJson(value) : text);
      return exitCode;
    },
  );

const WEB = /^https?:$/;
const PUBLISHER_TOKEN = /^tc[sk]_\S+$/;
const APP_TOKEN = /^tca_\S+$/;

async function makeProfile(flags: {
  readonly url?: string | undefined;
  readonly client?: string | undefined;
  readonly 'token-file': string;
  readonly app?: string | undefined;
  readonly 'app-token-file'?: string | undefined;
}): Promise<Profile> {
  const address = required('url', flags.url);
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !WEB.test(url.protocol)) {
    throw new UsageError('--url must be an address as https://push.example.com');
  }
  const client = required('client', flags.client);
  const { app, 'app-token-file': appTokenFile } = flags;
  if ((app === undefined) !== (appTokenFile === undefined)) {
    throw new UsageError('--app goes with --app-token-file');
  }
  const token = await readToken('--token-file', flags['token-file'], PUBLISHER_TOKEN);
  return {
    url: address,
    client,
    token,
    app:
      app === undefined || appTokenFile === undefined
        ? null
        : {
            id: readNumber('--app', app),
            token: await readToken('--app-token-file', appTokenFile, APP_TOKEN),
          },
  };
}

/** Never from the arguments: other users of a machine see these. */
async function readToken(flag: string, path: string, form: RegExp): Promise<string> {
  let text: string;
  try {
    text = path === '-' ? await readAll(process.stdin) : await readFile(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${flag}: cannot read ${path}`, { cause: error });
  }
  const token = text.trim();
  if (form.test(token)) return token;
  const kind =
    form === APP_TOKEN ? "an app's token, tca_…" : 'a token of a publisher, tcs_… or tck_…';
  throw new UsageError(`${flag}: ${path === '-' ? 'standard input' : path} does not hold ${kind}`);
}

async function add(path: string, name: string, profile: Profile): Promise<Outcome> {
  const { current, byName } = await readProfiles(path);
  const isFirst = current === null;
  await writeProfiles(path, {
    current: current ?? name,
    byName: { ...byName, [name]: profile },
  });
  return {
    value: shown(name, profile, isFirst),
    text: `Profile ${name} calls ${profile.url} as client ${profile.client}.${isFirst ? ' It is used where a command names none.' : ''}`,
  };
}

function list({ current, byName }: Profiles, demo: Profile | null): Outcome {
  const all = { ...(demo === null ? {} : { [DEMO]: demo }), ...byName };
  const rows = Object.entries(all).map(([name, profile]) =>
    shown(name, profile, name === (current ?? DEMO)),
  );
  return {
    value: rows,
    text:
      rows.length === 0
        ? 'There is no profile: profile add makes one.'
        : rows
            .map(({ name, url, client, isCurrent }) =>
              tableRow(isCurrent ? '*' : ' ', name, url, client),
            )
            .join('\n'),
  };
}

async function use(path: string, name: string, demo: Profile | null): Promise<Outcome> {
  const profiles = await readProfiles(path);
  const profile = Object.hasOwn(profiles.byName, name)
    ? profiles.byName[name]
    : name === DEMO && demo;
  if (!profile) return unknown(name);
  await writeProfiles(path, { ...profiles, current: name });
  return {
    value: shown(name, profile, true),
    text: `Profile ${name} is used where a command names none.`,
  };
}

async function remove(path: string, name: string): Promise<Outcome> {
  const { current, byName } = await readProfiles(path);
  if (!Object.hasOwn(byName, name)) return unknown(name);
  const { [name]: _, ...others } = byName;
  await writeProfiles(path, { current: current === name ? null : current, byName: others });
  return { value: { removed: name }, text: `Profile ${name} is removed.` };
}

const unknown = (name: string): Outcome => ({
  value: null,
  text: `There is no profile ${name}: \`tagcast profile list\` lists them.`,
  exitCode: EXIT_FAILED,
});

const shown = (name: string, { url, client, app }: Profile, isCurrent: boolean) => ({
  name,
  url,
  client,
  appId: app?.id ?? null,
  isCurrent,
});
