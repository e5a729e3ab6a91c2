/**
 * Holds requests and answers against the OpenAPI document: what the server takes and gives must be
 * in it.
 */

import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parseJson } from '../../packages/std/src/json.ts';
import type { OpenApiDocument } from '../../src/api/openapi/document.ts';
import { makeDocument } from '../../src/api/openapi/document.ts';
import type { HttpRequest, HttpResponse, Route } from '../../src/http/handler.ts';

export interface SeenAnswer {
  readonly method: string;
  /** The path in the form of the document: `/push-api/status/{id}`. */
  readonly path: string;
  readonly status: number;
  /** '' without one. */
  readonly contentType: string;
  readonly body: string;
}

interface Described {
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<Record<string, object>>;
}

const HEAD = '/openapi';

export class DocumentCheck {
  readonly #document: OpenApiDocument;
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false });
  readonly #validators = new Map<string, ValidateFunction | null>();

  constructor(document: OpenApiDocument) {
    // Callers must take fields of answers that they do not know; here each of them is a fault.
    this.#document = closed(document) as OpenApiDocument;
    this.#ajv.addSchema(this.#document, HEAD);
  }

  /** The operation of a path as the document has it. */
  operation(method: string, path: string): Described | null {
    return (this.#document.paths[path]?.[method.toLowerCase()] as Described | undefined) ?? null;
  }

  /** The part of an answer that the document does not describe; null: it describes all. */
  answerFault({ method, path, status, contentType, body }: SeenAnswer): string | null {
    const described = this.operation(method === 'HEAD' ? 'GET' : method, path);
    if (described === null) return 'the document has no such operation';
    if (described.responses[status] === undefined) return `status ${status} is not documented`;
    if (body === '') return null;
    const [mediaType = ''] = contentType.split(';');
    const pointer = `${this.#responsePointer(described, method, path, status)}/content/${escaped(mediaType)}`;
    const validate = this.#validator(pointer);
    if (validate === null) return `${status} as ${mediaType} is not documented`;
    const value: unknown = mediaType.includes('json') ? JSON.parse(body) : body;
    return validate(value) ? null : sentenceOf(validate.errors);
  }

  /** Fields of a body that was taken which the document does not know. Not: their values. */
  bodyFault(method: string, path: string, body: unknown): string | null {
    const pointer = `/paths/${escaped(path)}/${method.toLowerCase()}/requestBody/content/${escaped('application/json')}`;
    const validate = this.#validator(pointer);
    if (validate === null) return 'the document knows no body';
    if (validate(body)) return null;
    const unknown = validate.errors?.filter(({ keyword }) => keyword === 'additionalProperties');
    return unknown === undefined || unknown.length === 0 ? null : sentenceOf(unknown);
  }

  #responsePointer(described: Described, method: string, path: string, status: number): string {
    const response = described.responses[status] as { readonly $ref?: string };
    const own = `/paths/${escaped(path)}/${method.toLowerCase()}/responses/${status}`;
    return response.$ref?.slice(1) ?? own;
  }

  /** Null: there is no content at this place. */
  #validator(pointer: string): ValidateFunction | null {
    const known = this.#validators.get(pointer);
    if (known !== undefined) return known;
    const made = this.#has(pointer)
      ? this.#ajv.compile({
          $ref: `${HEAD}#${pointer.replaceAll(/[{}]/g, encodeURIComponent)}/schema`,
        })
      : null;
    this.#validators.set(pointer, made);
    return made;
  }

  #has(pointer: string): boolean {
    const parts = pointer.slice(1).split('/').map(unescaped);
    return (
      parts.reduce<unknown>(
        (within, part) => (within as Readonly<Record<string, unknown>> | undefined)?.[part],
        this.#document,
      ) !== undefined
    );
  }
}

/** The same routes; an answer that is not as the document says fails the test. */
export function checked(routes: readonly Route[]): readonly Route[] {
  const described = routes.filter(isDescribed);
  if (described.length === 0) return routes;
  const check = new DocumentCheck(makeDocument(described));
  return routes.map((route) => (isDescribed(route) ? checkedRoute(route, check) : route));
}

const isDescribed = ({ operation }: Route): boolean => operation !== null && operation !== 'page';

function checkedRoute(route: Route, check: DocumentCheck): Route {
  const seen = async (
    request: HttpRequest,
    handled: HttpResponse | Promise<HttpResponse>,
  ): Promise<HttpResponse> => {
    const response = await handled;
    const fault = faultOf(route, check, request, response);
    if (fault !== null) {
      const error = new Error(`${route.method} ${route.path}: ${fault}`);
      queueMicrotask(() => {
        throw error;
      });
    }
    return response;
  };
  // The second argument of the route: absent, a caller or a session.
  const described = route as { handle(request: HttpRequest, who: unknown): HttpResponse };
  const made = {
    ...route,
    handle: (request: HttpRequest, who: unknown) => seen(request, described.handle(request, who)),
  };
  return made as Route;
}

function faultOf(
  route: Route,
  check: DocumentCheck,
  request: HttpRequest,
  { status, headers = {}, body }: HttpResponse,
): string | null {
  const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
  const fault = check.answerFault({
    method: route.method,
    path,
    status,
    contentType: headers['Content-Type'] ?? '',
    body: headers['Content-Encoding'] === undefined ? body.toString() : '',
  });
  const isTaken = status < 300 && route.api !== 'app';
  return fault ?? (isTaken ? requestFault(route, check, request, path) : null);
}

/** The App API and the published list ignore what they do not know. */
function requestFault(
  { method, operation }: Route,
  check: DocumentCheck,
  request: HttpRequest,
  path: string,
): string | null {
  const names = check.operation(method, path)?.parameters.map(({ name }) => name) ?? [];
  const unknown = [...request.query.keys()].find((name) => !names.includes(name));
  if (unknown !== undefined && operation !== 'getHistory') return `?${unknown} is not documented`;
  if (request.body.length === 0 || request.header('content-type').startsWith('multipart/')) {
    return null;
  }
  return check.bodyFault(method, path, parseJson(request.body.toString()));
}

const escaped = (part: string): string => part.replaceAll('~', '~0').replaceAll('/', '~1');
const unescaped = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~');

const sentenceOf = (errors: readonly ErrorObject[] | null | undefined): string =>
  (errors ?? [])
    .map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    )
    .join('; ');

/** Objects that say nothing of further fields have none. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const made = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, closed(value)]),
  );
  const isObject = made['type'] === 'object' && typeof made['properties'] === 'object';
  return isObject && made['additionalProperties'] === undefined
    ? { ...made, additionalProperties: false }
    : made;
}
