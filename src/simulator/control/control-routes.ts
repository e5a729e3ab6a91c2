/**
 * The answers of the control endpoint: `control.ts` has the table of them, this file one function
 * for each row.
 */

import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import { isObject, parseJson } from '../../std/json.ts';
import type { AccountBook } from '../account-book.ts';
import { ACCOUNTS_MAX } from '../account-book.ts';
import { accountsSchema, createAccounts } from '../accounts.ts';
import type { PushBook } from '../faults/fate.ts';
import { SCRIPTS_MAX, scriptSchema } from '../faults/scripts.ts';
import type { DeviceField } from '../fcm/fcm-message.ts';
import { isInstallationId } from '../fcm/fcm-message.ts';
import type { BehaviourChange, LiveBehaviour } from '../options.ts';
import { behaviourChangeSchema } from '../options.ts';
import type { ProviderRecord } from '../record/record.ts';
import type { PushSubscription } from '../webpush/push-subscriptions.ts';

/** The parts of a simulator that the control endpoint may use. */
export interface ControlledSimulator {
  readonly apns: PushBook;
  readonly fcm: PushBook;
  readonly oauth: ProviderRecord;
  readonly webPush: PushBook;
  /** Makes a browser that has subscribed, with this key or with any. */
  subscribe(applicationServerKey: string | undefined): PushSubscription;
  /** From now on an installation is reached only by its id, or only by its token. */
  registerInstallation(fid: string, by: DeviceField): void;
  readonly accounts: AccountBook;
  readonly live: LiveBehaviour;
  changeBehaviour(change: BehaviourChange): void;
  reset(): void;
}

export interface ControlAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Call {
  readonly simulator: ControlledSimulator;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: string;
}

type Route = (call: Call) => ControlAnswer | Promise<ControlAnswer>;

/** Names after a colon match any segment. */
const ROUTES: readonly (readonly [path: string, methods: Readonly<Record<string, Route>>])[] = [
  ['state', { GET: getState }],
  ['received/:provider/:token', { GET: getReceived }],
  ['counts/:provider', { GET: getCounts }],
  ['tokens/:provider', { GET: getTokens }],
  ['tokens/:provider/:token', { PUT: putScript }],
  ['webpush/subscriptions', { POST: postSubscriptions }],
  ['fcm/installations/:fid', { PUT: putInstallation }],
  ['behaviour', { GET: getBehaviour, PUT: putBehaviour }],
  ['accounts', { GET: getAccounts, POST: postAccounts }],
  ['reset', { POST: postReset }],
];

/** A browser's keys cost 24 µs: this many in one request take a quarter of a second. */
const SUBSCRIPTIONS_MAX = 10_000;

const subscriptionsSchema = z.strictObject({
  count: z.number().int().min(1).max(SUBSCRIPTIONS_MAX).default(1),
  /**
   * The key that the page subscribes with, in base64url; absent: a push service that accepts any
   * key.
   */
  applicationServerKey: z.string().min(1).optional(),
});

const installationSchema = z.strictObject({
  fid: z.string().refine(isInstallationId, 'is no Firebase installation ID'),
  by: z.enum(['fid', 'token']),
});

const LIST_LIMIT_DEFAULT = 100;

/** About 15 MB of FCM tokens in one answer. */
const LIST_LIMIT_MAX = 100_000;

const listQuerySchema = z.object({
  times: z.coerce.number().int().min(0).optional(),
  limit: z.coerce.number().int().min(1).max(LIST_LIMIT_MAX).default(LIST_LIMIT_DEFAULT),
});

/** Finds the route and answers; never throws, whatever the request holds. */
export async function answerControl(
  simulator: ControlledSimulator,
  method: string,
  url: string,
  body: string,
): Promise<ControlAnswer> {
  const [path = '', query = ''] = url.split('?', 2);
  const segments = decodeSegments(path);
  if (segments === undefined) return problem(400, 'The path is not well percent-encoded');
  for (const [pattern, methods] of ROUTES) {
    const parameters = match(pattern.split('/'), segments);
    if (parameters === undefined) continue;
    const route = methods[method];
    if (route === undefined) return methodNotAllowed(Object.keys(methods));
    return await route({ simulator, parameters, query: new URLSearchParams(query), body });
  }
  return problem(404, 'There is no such resource');
}

/** The answer in the form of RFC 9457. */
export function problem(
  status: number,
  detail: string,
  errors: readonly { readonly path: string; readonly message: string }[] = [],
): ControlAnswer {
  const title = STATUS_CODES[status] ?? 'Error';
  return { status, body: { type: 'about:blank', title, status, detail, errors } };
}

function methodNotAllowed(allowed: readonly string[]): ControlAnswer {
  const allow = allowed.join(', ');
  return { ...problem(405, `Allowed here: ${allow}`), headers: { allow } };
}

function decodeSegments(path: string): readonly string[] | undefined {
  try {
    return path.split('/').slice(1).map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

function match(
  pattern: readonly string[],
  segments: readonly string[],
): Readonly<Record<string, string>> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, name] of pattern.entries()) {
    const segment = segments[index] ?? '';
    if (name.startsWith(':')) parameters[name.slice(1)] = segment;
    else if (name !== segment) return undefined;
  }
  return parameters;
}

function getState({ simulator }: Call): ControlAnswer {
  const { accepted, rejected } = simulator.oauth.state();
  return ok({
    apns: simulator.apns.record.state(),
    fcm: simulator.fcm.record.state(),
    webpush: simulator.webPush.record.state(),
    oauth: { accepted, rejected },
  });
}

function getReceived(call: Call): ControlAnswer {
  return withBook(call, ({ record }, token) => ok(record.report(token)));
}

function getCounts(call: Call): ControlAnswer {
  return withBook(call, ({ record }) =>
    ok({ tokens: record.state().tokens, times: record.timesHistogram() }),
  );
}

function getTokens(call: Call): ControlAnswer {
  return withBook(call, ({ record }) => {
    const query = listQuerySchema.safeParse(Object.fromEntries(call.query));
    if (!query.success) return invalid(query.error);
    return ok(record.list(query.data.times, query.data.limit));
  });
}

function putScript(call: Call): ControlAnswer {
  return withBook(call, ({ scripts }, token) => {
    const script = scriptSchema.safeParse(parseJson(call.body));
    if (!script.success) return invalid(script.error);
    if (scripts.write(token, script.data)) return ok(script.data);
    return problem(409, `There are ${SCRIPTS_MAX} scripted tokens already`);
  });
}

function postSubscriptions({ simulator, body }: Call): ControlAnswer {
  const wish = subscriptionsSchema.safeParse(body === '' ? {} : parseJson(body));
  if (!wish.success) return invalid(wish.error);
  const { count, applicationServerKey } = wish.data;
  const made = Array.from({ length: count }, () => simulator.subscribe(applicationServerKey));
  return { status: 201, body: made };
}

function putInstallation({ simulator, parameters, body }: Call): ControlAnswer {
  const told = parseJson(body);
  const installation = installationSchema.safeParse({
    ...(isObject(told) ? told : {}),
    fid: parameters['fid'],
  });
  if (!installation.success) return invalid(installation.error);
  const { fid, by } = installation.data;
  simulator.registerInstallation(fid, by);
  return ok(installation.data);
}

function getBehaviour({ simulator }: Call): ControlAnswer {
  return ok(simulator.live.current);
}

function putBehaviour({ simulator, body }: Call): ControlAnswer {
  const change = behaviourChangeSchema.safeParse(parseJson(body));
  if (!change.success) return invalid(change.error);
  simulator.changeBehaviour(change.data);
  return ok(simulator.live.current);
}

function getAccounts({ simulator }: Call): ControlAnswer {
  return ok(simulator.accounts.all);
}

async function postAccounts({ simulator, body }: Call): Promise<ControlAnswer> {
  const accounts = accountsSchema.safeParse(body === '' ? await createAccounts() : parseJson(body));
  if (!accounts.success) return invalid(accounts.error);
  if (simulator.accounts.add(accounts.data)) return { status: 201, body: accounts.data };
  return problem(409, `There are ${ACCOUNTS_MAX} accounts already`);
}

function postReset({ simulator }: Call): ControlAnswer {
  simulator.reset();
  return ok({});
}

/** Finds the provider that the path names, and the token in the case that its record keeps. */
function withBook(
  { simulator, parameters }: Call,
  answer: (book: PushBook, token: string) => ControlAnswer,
): ControlAnswer {
  const { provider, token = '' } = parameters;
  if (provider === 'apns') return answer(simulator.apns, token.toLowerCase());
  if (provider === 'fcm') return answer(simulator.fcm, token);
  if (provider === 'webpush') return answer(simulator.webPush, token);
  return problem(404, 'The providers are apns, fcm and webpush');
}

function ok(body: unknown): ControlAnswer {
  return { status: 200, body };
}

function invalid(error: z.ZodError): ControlAnswer {
  const errors = error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
  const [first] = errors;
  return problem(400, first === undefined ? 'Invalid' : sentence(first), errors);
}

function sentence({ path, message }: { readonly path: string; readonly message: string }): string {
  return path === '' ? message : `${path}: ${message}`;
}
