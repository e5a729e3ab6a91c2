/**
 * The answers of the control endpoint: `control.ts` has the table of them, this file one function
 * for each row.
 */

import { z } from 'zod';
import { parseJson } from '../../../std/src/json.ts';
import type { AccountBook } from '../account-book.ts';
import { ACCOUNTS_MAX } from '../account-book.ts';
import { accountsSchema, createAccounts } from '../accounts.ts';
import type { PushBook } from '../faults/fate.ts';
import { SCRIPTS_MAX, scriptSchema } from '../faults/scripts.ts';
import type { BehaviourChange, LiveBehaviour } from '../options.ts';
import { behaviourChangeSchema } from '../options.ts';
import type { ProviderRecord } from '../record/record.ts';
import type { ControlAnswer, ControlCall, ControlRoute } from './control-answer.ts';
import { invalid, ok, problem } from './control-answer.ts';

/** The parts of a simulator that the control endpoint may use. */
export interface ControlledSimulator {
  /** The providers, keyed by their names in paths. */
  readonly providers: ReadonlyMap<string, ControlledProvider>;
  readonly accounts: AccountBook;
  readonly live: LiveBehaviour;
  changeBehaviour(change: BehaviourChange): void;
  reset(): void;
}

export interface ControlledProvider {
  readonly book: PushBook;
  /** Records beside that of its pushes, by their names in the state. */
  readonly records: Readonly<Record<string, ProviderRecord>>;
  /** A token as its record keeps it. */
  tokenOf(token: string): string;
  /** Resources that are only its own. */
  readonly routes: readonly ControlRoute[];
}

interface Call extends ControlCall {
  readonly simulator: ControlledSimulator;
}

type Route = (call: Call) => ControlAnswer | Promise<ControlAnswer>;

/** Names after a colon match any segment. */
const ROUTES: readonly (readonly [path: string, methods: Readonly<Record<string, Route>>])[] = [
  ['state', { GET: getState }],
  ['received/:provider/:token', { GET: getReceived }],
  ['shown/:provider/:token', { GET: getShown }],
  ['counts/:provider', { GET: getCounts }],
  ['tokens/:provider', { GET: getTokens }],
  ['tokens/:provider/:token', { PUT: putScript }],
  ['behaviour', { GET: getBehaviour, PUT: putBehaviour }],
  ['accounts', { GET: getAccounts, POST: postAccounts }],
  ['reset', { POST: postReset }],
];

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
  const providers = [...simulator.providers.values()];
  const routes = [...ROUTES, ...providers.flatMap((provider) => provider.routes)];
  for (const [pattern, methods] of routes) {
    const parameters = match(pattern.split('/'), segments);
    if (parameters === undefined) continue;
    const route = methods[method];
    if (route === undefined) return methodNotAllowed(Object.keys(methods));
    return await route({ simulator, parameters, query: new URLSearchParams(query), body });
  }
  return problem(404, 'There is no such resource');
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
  const providers = [...simulator.providers];
  const records = providers.flatMap(([, provider]) => Object.entries(provider.records));
  return ok({
    ...Object.fromEntries(providers.map(([name, { book }]) => [name, book.record.state()])),
    ...Object.fromEntries(
      records.map(([name, record]) => {
        const { accepted, rejected } = record.state();
        return [name, { accepted, rejected }];
      }),
    ),
  });
}

function getReceived(call: Call): ControlAnswer {
  return withBook(call, ({ record }, token) => ok(record.report(token)));
}

function getShown(call: Call): ControlAnswer {
  return withBook(call, ({ record }, token) => ok(record.shownOn(token)));
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
  const { provider: name = '', token = '' } = parameters;
  const provider = simulator.providers.get(name);
  if (provider !== undefined) return answer(provider.book, provider.tokenOf(token));
  return problem(404, `The providers are ${[...simulator.providers.keys()].join(', ')}`);
}
