/** The OpenAPI document: the routes, with the very schemas of zod that validate. */

import { z } from 'zod';
import type { ConsoleRoute, Route } from '../../http/handler.ts';
import type { Content, Json, Operation, Parameter } from '../../http/openapi/operation.ts';
import { count } from '../../http/openapi/parts.ts';
import { Schemas } from '../../http/openapi/schemas.ts';
import { TITLES } from '../../http/problem.ts';
import { DESCRIPTION, PROBLEMS, SECURITY_SCHEMES, TAGS } from './descriptions.ts';

export interface OpenApiDocument extends Json {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly components: Readonly<Record<string, Json>>;
}

/** The version of the interface: what is new carries it in its path. */
const INTERFACE_VERSION = '3';

const CREDENTIAL_PROBLEMS = [401, 403, 429, 500, 503];
const BODY_PROBLEMS = [408, 413];
const RETRIED: ReadonlySet<number> = new Set([429, 503]);

/** Makes the document. Throws when a route is not described as it must be. */
export function makeDocument(routes: readonly Route[]): OpenApiDocument {
  const schemas = new Schemas();
  const paths: Record<string, Record<string, Json>> = {};
  const statuses = new Set<number>();
  for (const route of routes) {
    if (route.operation === 'page') continue;
    if (route.operation === null) throw new Error(`${route.path} has no operation`);
    const path = route.path.replaceAll(PARAMETER, '{$1}');
    paths[path] ??= {};
    const operation = route.document;
    if (operation === undefined) throw new Error(`nothing describes ${route.operation}`);
    const problems = problemsOf(route, operation);
    for (const status of problems) statuses.add(status);
    paths[path][route.method.toLowerCase()] = {
      operationId: route.operation,
      ...operationObject(route, operation, problems, schemas),
    };
  }
  const apis = new Set(routes.map(({ api }) => api));
  const { operator, ...schemes } = SECURITY_SCHEMES;
  return {
    openapi: '3.1.1',
    info: { title: 'Tagcast', version: INTERFACE_VERSION, description: DESCRIPTION },
    servers: [{ url: '/', description: 'This engine.' }],
    tags: (Object.keys(TAGS) as Route['api'][])
      .filter((api) => apis.has(api))
      .map((api) => TAGS[api]),
    security: [{ bearer: [] }, { basic: [] }],
    paths,
    components: {
      // An engine without OPERATOR_TOKEN has no route that takes it.
      securitySchemes: apis.has('operator') ? { ...schemes, operator } : schemes,
      headers: HEADERS,
      responses: problemResponses(statuses, schemas),
      schemas: schemas.named,
    },
  };
}

const PARAMETER = /:(\w+)/g;

function operationObject(
  route: Route,
  operation: Operation,
  problems: readonly number[],
  schemas: Schemas,
): Json {
  const { summary, description, body } = operation;
  const said = [description, whoMayCall(route)].filter((text) => text !== undefined);
  return {
    summary,
    ...(said.length === 0 ? {} : { description: said.join('\n\n') }),
    tags: [TAGS[route.api].name],
    ...securityOf(route),
    parameters: parametersOf(route, operation, schemas),
    ...(body === undefined ? {} : { requestBody: bodyObject(body, schemas) }),
    responses: {
      ...answersOf(operation, schemas),
      ...Object.fromEntries(
        problems.map((status) => [
          status,
          { $ref: `#/components/responses/${responseName(status)}` },
        ]),
      ),
      default: { $ref: '#/components/responses/Problem' },
    },
  };
}

/** Where it differs from that of the whole document. */
function securityOf(route: Route): Json {
  if (route.api === 'console' && route.needs !== 'nobody') return { security: [{ session: [] }] };
  if (route.api === 'operator') return { security: [{ operator: [] }] };
  return route.api === 'open' || route.api === 'console' ? { security: [] } : {};
}

const IN_GRACE = 'A credential of a super user that was rotated away is refused, in its grace too.';

function whoMayCall(route: Route): string | undefined {
  switch (route.api) {
    case 'open':
      return undefined;
    case 'operator':
      return 'For the operator of the installation.';
    case 'console':
      return whoMayCallConsole(route);
    case 'app':
      return 'For the API user of an app.';
    case 'notification':
    case 'admin':
      switch (route.needs) {
        case 'super-user':
          return `For the super user of the client; no key is enough. ${IN_GRACE}`;
        case 'any-scope':
          return 'For the super user of the client, and any of its keys.';
        default:
          return `For the super user of the client, and keys with the scope \`${route.needs}\`.${route.isForSuccessor === true ? ` ${IN_GRACE}` : ''}`;
      }
  }
}

function whoMayCallConsole({ needs }: ConsoleRoute): string | undefined {
  switch (needs) {
    case 'nobody':
      return undefined;
    case 'cookie':
    case 'account':
      return 'For signed-in accounts.';
    case 'owner':
      return 'For owners of the client that `Tagcast-Client` names.';
    case 'operator':
      return 'For accounts of the operator.';
  }
}

const CLIENT: Parameter = {
  description: 'The client, by its slug.',
  schema: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/),
  example: 'demo',
};

function parametersOf(route: Route, operation: Operation, schemas: Schemas): readonly Json[] {
  const { path = {}, query = {}, headers = {} } = operation;
  const inPath = [...route.path.matchAll(PARAMETER)].map(([, name = '']) => {
    const parameter = name === 'client' ? CLIENT : path[name];
    if (parameter === undefined) throw new Error(`${route.path}: :${name} is not described`);
    const { description, schema, example } = parameter;
    return { name, in: 'path', required: true, description, schema: schemas.of(schema), example };
  });
  return [
    ...inPath,
    ...Object.entries(query).map((entry) => optionalParameter('query', entry, schemas)),
    ...Object.entries(headers).map((entry) => optionalParameter('header', entry, schemas)),
  ];
}

/** Without an example: pages to try the interface would send every filter and Idempotency-Key. */
const optionalParameter = (
  where: 'query' | 'header',
  [name, { description, schema, example }]: readonly [string, Parameter],
  schemas: Schemas,
): Json => ({
  name,
  in: where,
  description,
  schema: { ...schemas.of(schema), examples: [example] },
});

function bodyObject(body: NonNullable<Operation['body']>, schemas: Schemas): Json {
  const content = contentObject(body, schemas);
  const multipart = {
    schema: { type: 'object', properties: { data: content['schema'] }, required: ['data'] },
    encoding: { data: { contentType: 'application/json' } },
    example: { data: body.example },
  };
  return {
    required: true,
    content: {
      'application/json': content,
      ...(body.isAlsoMultipart === true ? { 'multipart/form-data': multipart } : {}),
    },
  };
}

const contentObject = ({ schema, example }: Content, schemas: Schemas): Json => ({
  schema: schemas.of(schema),
  example,
});

const answersOf = ({ answers }: Operation, schemas: Schemas): Json =>
  Object.fromEntries(
    Object.entries(answers).map(([status, { description, content, headers = {} }]) => [
      status,
      {
        description,
        headers: {
          'X-Request-Id': REQUEST_ID,
          ...Object.fromEntries(
            Object.entries(headers).map(([name, meaning]) => [
              name,
              { description: meaning, schema: { type: 'string' } },
            ]),
          ),
        },
        ...(Object.keys(content).length === 0
          ? {}
          : {
              content: Object.fromEntries(
                Object.entries(content).map(([type, one]) => [type, contentObject(one, schemas)]),
              ),
            }),
      },
    ]),
  );

function credentialProblemsOf(route: Route): readonly number[] {
  if (route.api === 'open') return [];
  if (route.api === 'operator') return [401, 429, 500, 503];
  if (route.api !== 'console') return CREDENTIAL_PROBLEMS;
  return route.needs === 'nobody' ? [403, 500, 503] : [400, 401, 403, 500, 503];
}

function problemsOf(route: Route, operation: Operation): readonly number[] {
  const { body, path, query, problems = [] } = operation;
  const isRead = path !== undefined || query !== undefined || route.path.includes(':');
  const all = [
    ...(isRead ? [400] : []),
    ...credentialProblemsOf(route),
    ...(body === undefined ? [] : BODY_PROBLEMS),
    ...problems,
  ];
  const own = (status: number): boolean => Object.hasOwn(operation.answers, status);
  return [...new Set(all)].filter((status) => !own(status)).sort((one, other) => one - other);
}

const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    errors: z
      .array(
        z.object({
          path: z.string(),
          message: z.string(),
          position: count.optional().meta({ description: 'In the text, from 0.' }),
        }),
      )
      .optional()
      .meta({ description: 'Each field that is wrong, by its path in the request.' }),
    requestId: z.string(),
  })
  .meta({ id: 'Problem', description: 'RFC 9457.' });

const HEADERS = {
  'X-Request-Id': {
    description: 'The `X-Request-Id` of the request, or one that was made for it.',
    schema: { type: 'string' },
  },
  'Retry-After': {
    description: 'Seconds after which to try again.',
    schema: { type: 'integer', minimum: 0 },
  },
  'WWW-Authenticate': { description: 'The schemes.', schema: { type: 'string' } },
} as const;
const headerRef = (name: keyof typeof HEADERS) => ({ $ref: `#/components/headers/${name}` });
const REQUEST_ID = headerRef('X-Request-Id');

const responseName = (status: number): string => (TITLES[status] ?? 'Problem').replaceAll(' ', '');

function problemResponses(statuses: ReadonlySet<number>, schemas: Schemas): Json {
  const schema = schemas.of(problem);
  const response = (status: number, description: string): Json => ({
    description,
    headers: {
      'X-Request-Id': REQUEST_ID,
      ...(RETRIED.has(status) ? { 'Retry-After': headerRef('Retry-After') } : {}),
      ...(status === 401 ? { 'WWW-Authenticate': headerRef('WWW-Authenticate') } : {}),
    },
    content: { 'application/problem+json': { schema } },
  });
  return {
    ...Object.fromEntries(
      [...statuses].map((status) => [
        responseName(status),
        response(status, PROBLEMS[status] ?? 'Problem'),
      ]),
    ),
    Problem: response(0, 'Any other fault.'),
  };
}
