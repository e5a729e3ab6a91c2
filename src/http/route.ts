/**
 * A route as one record: its document, and a handler of what was read. All that is described here
 * reads or writes itself, so the OpenAPI document says what the route does.
 */

import type { Caller } from '../domain/caller.ts';
import type { Session } from '../domain/session.ts';
import type { Described } from './answers.ts';
import type { Body } from './form-body.ts';
import type { HttpRequest, HttpResponse, Route } from './handler.ts';
import { BODY_BYTES_MAX, CONSOLE_BODY_BYTES_MAX } from './handler.ts';
import type { Operation } from './openapi/operation.ts';
import type { PathParameter, QueryParameter } from './parameters.ts';
import { QueryReader } from './query-reader.ts';
import type { Result } from './result.ts';
import { answerRefusal, done, refuse } from './result.ts';

interface Document extends Pick<Operation, 'summary' | 'description' | 'headers' | 'problems'> {
  /** The end of the path, after that of the resource: `:id/rotate`. */
  readonly at?: string;
  /** The parts of the path but `client`. What is no such part is answered with 404. */
  readonly path?: Readonly<Record<string, PathParameter<unknown>>>;
  /** Another parameter is a fault. Absent: the query is ignored. */
  readonly query?: Readonly<Record<string, QueryParameter<unknown>>>;
  readonly body?: Body<unknown>;
  readonly answer: Described<never>;
}

export interface Asked<Who, Path = unknown, Query = unknown, Form = unknown> {
  readonly caller: Who;
  readonly path: Path;
  readonly query: Query;
  readonly body: Form;
  /** The rest of it: header fields, the address. */
  readonly request: HttpRequest;
}

export type ValuesOf<Parameters> = {
  readonly [Name in keyof Parameters]: Parameters[Name] extends
    | PathParameter<infer Value>
    | QueryParameter<infer Value>
    ? Value
    : never;
};

type AskedBy<Who, Of extends Document> = Asked<
  Who,
  ValuesOf<Of['path']>,
  ValuesOf<Of['query']>,
  Of['body'] extends Body<infer Form> ? Form : null
>;
type Answered<Of extends Document> = Result<
  Of['answer'] extends Described<infer Value> ? Value : never
>;

type Without<One, Keys extends PropertyKey> = One extends unknown ? Omit<One, Keys> : never;
/** Who may call a route, as the routes of its API say it. */
type Access = Without<
  Route,
  'operation' | 'document' | 'method' | 'path' | 'bodyBytesMax' | 'handle'
>;

type Who<Of extends Access> = Of extends { readonly needs: 'cookie' | 'account' | 'operator' }
  ? Session
  : Of extends { readonly api: 'open' | 'operator' } | { readonly needs: 'nobody' }
    ? null
    : Caller;

/** The routes of one resource, which lie at a path and for which the same callers are good. */
export function routesAt<const Of extends Access>(resource: string, access: Of) {
  const bodyBytesMax = access.api === 'console' ? CONSOLE_BODY_BYTES_MAX : BODY_BYTES_MAX;
  const by =
    (method: Route['method']) =>
    <Doc extends Document>(
      operation: string,
      document: Doc,
      handle: (asked: AskedBy<Who<Of>, Doc>) => Answered<Doc> | Promise<Answered<Doc>>,
    ): Route => {
      const answered = async (request: HttpRequest, caller: unknown): Promise<HttpResponse> => {
        const read = readRequest(document, request);
        if (!read.ok) return answerRefusal(request, read);
        const asked = { ...read.value, caller, request };
        const result: Result<unknown> = await handle(asked as AskedBy<Who<Of>, Doc>);
        if (!result.ok) return answerRefusal(request, result);
        const answer = await document.answer.write(result.value as never, request);
        const headers = { ...answer.headers, ...result.beside.headers };
        return { ...answer, ...result.beside, headers };
      };
      const made = {
        ...access,
        operation,
        document: operationOf(document),
        method,
        path: document.at === undefined ? resource : `${resource}/${document.at}`,
        bodyBytesMax: method === 'GET' ? 0 : bodyBytesMax,
        handle: answered,
      };
      // Access says which of the routes it is, and whom the server lets through to it.
      return made as unknown as Route;
    };
  return {
    get: by('GET'),
    post: by('POST'),
    put: by('PUT'),
    patch: by('PATCH'),
    delete: by('DELETE'),
  };
}

function operationOf({ at: _at, answer, problems = [], ...same }: Document): Operation {
  return {
    ...same,
    answers: { [answer.status]: answer },
    problems: same.path === undefined ? problems : [404, ...problems],
  };
}

/** Each part as its parameter or form reads it. */
function readRequest(
  { path = {}, query, body }: Document,
  request: HttpRequest,
): Result<Omit<Asked<unknown>, 'caller' | 'request'>> {
  const parts: Record<string, unknown> = {};
  for (const [name, parameter] of Object.entries(path)) {
    parts[name] = parameter.read(request.params[name] ?? '');
    if (parts[name] === null) return parameter.unknown;
  }
  const filters: Record<string, unknown> = {};
  if (query !== undefined) {
    const reader = new QueryReader(request.query, Object.keys(query) as [string, ...string[]]);
    for (const [name, parameter] of Object.entries(query)) {
      filters[name] = parameter.read(reader, name);
    }
    if (reader.faults.length > 0) return refuse.invalid(reader.faults);
  }
  const form = body === undefined ? done(null) : body.read(request);
  return form.ok ? done({ path: parts, query: filters, body: form.value }) : form;
}
