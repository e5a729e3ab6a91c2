/** `tagcast send`: submits a push, once, also where its answer is lost. */

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { buffer as readAll } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DryRun, Payload, PushRequest } from '../../../packages/client/src/openapi.ts';
import type { JsonObject } from '../../../packages/std/src/json.ts';
import { parseObject } from '../../../packages/std/src/json.ts';
import { digitFaults } from '../../domain/payload-digits.ts';
import { counted, format } from '../../std/counted.ts';
import { positionBehind } from '../../std/json-position.ts';
import { decodeUtf8 } from '../../std/utf8.ts';
import { visibleField } from '../../std/visible-text.ts';
import { PLATFORM_FLAG, readNumber, readPlatform, UsageError } from '../arguments.ts';
import type { Command } from '../command.ts';
import { ONLY, verb } from '../command.ts';
import { isNeverSent } from '../why-unanswered.ts';
import { EXIT_NOTES } from './job-text.ts';
import type { Outcome, PublisherContext, Session, Work } from './publisher-command.ts';
import { isNoAnswer, publisherCommand } from './publisher-command.ts';
import { NAME_NOTES, readNames } from './tag-names.ts';
import { watchJob } from './watch-job.ts';

const tags = (about: string) => ({ type: 'string', multiple: true, value: 'tag', about }) as const;

export const PAYLOAD_FLAGS = {
  title: { type: 'string', about: 'title of the message' },
  message: { type: 'string', about: 'text of the message' },
  'payload-file': {
    type: 'string',
    value: 'file',
    about: 'the payload as JSON; - is standard input; --title and --message replace its own',
  },
} as const;

const FLAGS = {
  tag: tags('to devices that have any of these'),
  'filter-tag': tags('only those that have all of these'),
  'exclude-tag': tags('none that has any of these'),
  audience: {
    type: 'string',
    value: 'expression',
    about: "in place of these, as '(news || sport) && !tennis'",
  },
  app: { type: 'string', multiple: true, value: 'app', about: 'only to this app' },
  platform: { ...PLATFORM_FLAG, multiple: true, about: 'only to this platform' },
  ...PAYLOAD_FLAGS,
  at: { type: 'string', value: 'time', about: 'send later, as 2027-01-01T12:00:00Z' },
  'at-local': {
    type: 'string',
    value: 'time',
    about: 'send at this time where each device is, as 2027-01-01T08:00',
  },
  late: {
    type: 'boolean',
    about: 'with --at-local: at once to devices whose time has passed; else they get nothing',
  },
  expires: { type: 'string', value: 'time', about: 'do not send after this time' },
  hold: {
    type: 'string',
    value: 'seconds',
    about: 'wait so long before the first device: time to cancel it',
  },
  'pause-after': {
    type: 'string',
    value: 'n',
    about: 'pause after so many devices, until notification resume',
  },
  rate: { type: 'string', value: 'n', about: 'at most so many devices a second' },
  urgent: { type: 'boolean', about: 'overtake the other sends of the client' },
  'at-most-once': { type: 'boolean', about: 'never send twice, even if an outcome is unknown' },
  category: {
    type: 'string',
    value: 'name',
    about: 'what kind of push it is, by whose caps it goes',
  },
  'ignore-caps': { type: 'boolean', about: 'leave nobody out who has had as many as a cap allows' },
  'dry-run': { type: 'boolean', about: 'check and count, send nothing' },
  watch: { type: 'boolean', about: 'follow the push to its end' },
  'idempotency-key': {
    type: 'string',
    value: 'key',
    about: 'sends once, however often it is repeated with this key; one is made without it',
  },
} as const;

const NOTES = `Prints the id of the job. ${NAME_NOTES}
${EXIT_NOTES}`;

export const sendCommand = (context: PublisherContext): Command =>
  publisherCommand(context, {
    name: 'send',
    notes: NOTES,
    verbs: {
      [ONLY]: verb(
        { summary: 'Sends a push to the devices of tags.', flags: FLAGS },
        async (_, flags): Promise<Work> => {
          const body = await readPush(flags);
          if (flags['dry-run'] === true) return (session) => dryRun(session, body);
          const key = flags['idempotency-key'] ?? randomUUID();
          return (session) => send(session, body, key, flags.watch === true);
        },
      ),
    },
  });

interface GivenPayload {
  readonly title?: string | undefined;
  readonly message?: string | undefined;
  readonly 'payload-file'?: string | undefined;
}

interface GivenPush extends GivenPayload {
  readonly tag?: readonly string[] | undefined;
  readonly 'filter-tag'?: readonly string[] | undefined;
  readonly 'exclude-tag'?: readonly string[] | undefined;
  readonly audience?: string | undefined;
  readonly app?: readonly string[] | undefined;
  readonly platform?: readonly string[] | undefined;
  readonly at?: string | undefined;
  readonly 'at-local'?: string | undefined;
  readonly late?: boolean | undefined;
  readonly expires?: string | undefined;
  readonly hold?: string | undefined;
  readonly 'pause-after'?: string | undefined;
  readonly rate?: string | undefined;
  readonly urgent?: boolean | undefined;
  readonly 'at-most-once'?: boolean | undefined;
  readonly category?: string | undefined;
  readonly 'ignore-caps'?: boolean | undefined;
}

async function readPush(given: GivenPush): Promise<PushRequest> {
  const { tag = [], 'filter-tag': filter = [], 'exclude-tag': exclude = [], audience } = given;
  if (tag.length === 0 && audience === undefined) {
    throw new UsageError('--tag or --audience is missing: to whom?');
  }
  const target = readNames(tag);
  const filters = readNames(filter);
  const excluded = readNames(exclude);
  const parts: Partial<PushRequest>[] = [
    optional('tagIds', target.ids),
    optional('tagSourceIds', target.sourceIds),
    optional('filterTagIds', filters.ids),
    optional('filterTagSourceIds', filters.sourceIds),
    optional('excludeTagIds', excluded.ids),
    optional('excludeTagSourceIds', excluded.sourceIds),
    optional('audience', audience),
    optional(
      'appIds',
      given.app?.map((text) => readNumber('--app', text)),
    ),
    optional('platformIds', given.platform?.map(readPlatform)),
    optional('sendAt', given.at),
    optional('sendAtLocal', given['at-local']),
    given.late === true ? { late: 'send' } : {},
    optional('expiresAt', given.expires),
    numbered('holdSeconds', '--hold', given.hold),
    numbered('pauseAfter', '--pause-after', given['pause-after']),
    numbered('ratePerSecond', '--rate', given.rate),
    optional('category', given.category),
    given['ignore-caps'] === true ? { caps: 'ignore' } : {},
    given.urgent === true ? { priority: 'urgent' } : {},
    given['at-most-once'] === true ? { delivery: 'at-most-once' } : {},
  ];
  return Object.assign({}, ...parts, { payload: await readPayload(given) }) as PushRequest;
}

const numbered = (
  name: 'holdSeconds' | 'pauseAfter' | 'ratePerSecond',
  flag: string,
  text: string | undefined,
): Partial<PushRequest> => optional(name, text === undefined ? undefined : readNumber(flag, text));

const optional = <Name extends keyof PushRequest>(
  name: Name,
  value: PushRequest[Name] | undefined,
): Partial<PushRequest> => (value === undefined ? {} : { [name]: value });

/** Reads the payload that the flags give. */
export async function readPayload(given: GivenPayload): Promise<Payload> {
  const { title, message, 'payload-file': path } = given;
  if (title === undefined && message === undefined && path === undefined) {
    throw new UsageError('--title, --message or --payload-file is missing: what?');
  }
  return {
    ...(path === undefined ? {} : await readObject(path)),
    ...(title === undefined ? {} : { title }),
    ...(message === undefined ? {} : { message }),
  };
}

async function readObject(path: string): Promise<JsonObject> {
  let octets: Buffer;
  try {
    octets = path === '-' ? await readAll(process.stdin) : await readFile(path);
  } catch (error) {
    throw new UsageError(`--payload-file: cannot read ${path}`, { cause: error });
  }
  const decoded = decodeUtf8(octets);
  if (!decoded.ok) {
    const { line, column } = positionBehind(decoded.before);
    throw new UsageError(
      `--payload-file: ${path} is not UTF-8 from line ${line}, column ${column}: ${decoded.hint}`,
    );
  }
  const payload = parseObject(decoded.text);
  if (payload === undefined) {
    throw new UsageError(`--payload-file: ${path} does not hold a JSON object`);
  }
  const [changed] = digitFaults(decoded.text);
  if (changed === undefined) return payload;
  throw new UsageError(`--payload-file: ${changed.path} ${changed.message}`);
}

const JOBS = '/push-api/v3/{client}/notifications';

async function dryRun({ tagcast, signal }: Session, push: PushRequest): Promise<Outcome> {
  const body = { ...push, dryRun: true };
  const answer = await tagcast.request('POST', JOBS, { body, signal });
  // A dry run is answered with counts.
  const dry = answer.body as DryRun;
  const total = dry.audience.reduce((sum, { count }) => sum + count, 0);
  const lines = dry.audience.map(
    ({ appId, platformId, count }) => `  app ${appId} on ${platformId}: ${format(count)}`,
  );
  const unknown = unknownTags(dry.unknownTags);
  return {
    value: dry,
    text: [counted(total, 'device'), ...lines, ...unknown].join('\n'),
  };
}

async function send(
  session: Session,
  body: PushRequest,
  key: string,
  isWatched: boolean,
): Promise<Outcome | number> {
  const { terminal, isJson } = session;
  const { id, state, unknownTags: unknown } = await submit(session, body, key);
  if (!isJson) for (const sentence of unknownTags(unknown)) terminal.note(sentence);
  if (!isWatched) {
    return { value: { id, state, unknownTags: unknown, idempotencyKey: key }, text: id };
  }
  if (!isJson) terminal.print(id);
  return watchJob(session, id);
}

/**
 * Pauses grow: a restart of the engine fits between them.
 * @limit requests of one `tagcast send` whose answers are lost → exit code 1, and the key to repeat
 * it with
 */
const ATTEMPTS_MAX = 5;
/**
 * @limit pause before the second request of a `tagcast send`; each further one is longer by as much
 */
const PAUSE_MS = 1_000;

/** With the same key again when the answer is lost: the engine knows whether it has it already. */
async function submit({ tagcast, terminal, signal }: Session, body: PushRequest, key: string) {
  const headers = { 'Idempotency-Key': key };
  for (let attempt = 1; ; attempt += 1) {
    try {
      const answer = await tagcast.request('POST', JOBS, { body, headers, signal });
      if ('id' in answer.body) return answer.body;
      throw new Error('A push was answered as a dry run.');
    } catch (error) {
      if (!isNoAnswer(error) || signal.aborted) throw error;
      // An attempt before this one may have been accepted.
      if (attempt === 1 && isNeverSent(error)) throw error;
      if (attempt === ATTEMPTS_MAX) {
        terminal.complain(
          `Whether the push was accepted is not known. The same command with --idempotency-key ${key} sends it once.`,
        );
        throw error;
      }
      await sleep(PAUSE_MS * attempt, undefined, { signal });
    }
  }
}

const unknownTags = (names: readonly (number | string)[]): readonly string[] =>
  names.length === 0
    ? []
    : [visibleField(`Nobody has these tags, for they are unknown: ${names.join(', ')}`)];
