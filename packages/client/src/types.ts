/** The types of a request and of its answer, by the method and path of the document. */

import type { paths } from './openapi.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

interface AnyOperation {
  readonly parameters: object;
  readonly responses: object;
}

/** The document's description of a method of a path; never: the path does not have it. */
type OperationOf<M extends Method, P extends keyof paths> =
  Lowercase<M> extends keyof paths[P] ? Extract<paths[P][Lowercase<M>], AnyOperation> : never;

export type PathOf<M extends Method> = {
  [P in keyof paths]: [OperationOf<M, P>] extends [never] ? never : P;
}[keyof paths];

type ParametersOf<O, Where extends string> = O extends {
  readonly parameters: { readonly [W in Where]?: infer T };
}
  ? NonNullable<T>
  : never;

/** Paths that answer with server-sent events. */
export type EventsPath = {
  [P in PathOf<'GET'>]: OperationOf<'GET', P> extends {
    readonly responses: {
      readonly 200: { readonly content: { readonly 'text/event-stream': unknown } };
    };
  }
    ? P
    : never;
}[PathOf<'GET'>];

/** The paths whose answers are read whole. */
export type AskedPath<M extends Method> = Exclude<PathOf<M>, EventsPath>;

/** The client need not be given: the options have it. */
type InPath<O> = [ParametersOf<O, 'path'>] extends [never]
  ? never
  : Omit<ParametersOf<O, 'path'>, 'client'> & {
      readonly [N in 'client' & keyof ParametersOf<O, 'path'>]?: string;
    };

type JsonIn<T> = T extends { readonly content: { readonly 'application/json': infer Body } }
  ? Body
  : never;

/** A key with its value, left out where there is nothing to give. */
type Given<Name extends string, T> = [T] extends [never]
  ? { readonly [N in Name]?: never }
  : Record<never, never> extends T
    ? { readonly [N in Name]?: T }
    : { readonly [N in Name]: T };

/** The parameters and the body of a request. */
export type RequestOf<M extends Method, P extends PathOf<M>> = Given<
  'path',
  InPath<OperationOf<M, P>>
> &
  Given<'query', ParametersOf<OperationOf<M, P>, 'query'>> &
  Given<'headers', ParametersOf<OperationOf<M, P>, 'header'>> &
  Given<
    'body',
    OperationOf<M, P> extends { readonly requestBody: infer Body } ? JsonIn<Body> : never
  > & {
    /** Ends the request, and the waiting for its repetition. */
    readonly signal?: AbortSignal;
  };

/** The body as the client asks for it: JSON where there is JSON, else text. */
type BodyIn<Response> = Response extends { readonly content: infer Content }
  ? Content extends { readonly 'application/json': infer Body }
    ? Body
    : Content extends { readonly [type: string]: infer Text }
      ? Text
      : undefined
  : undefined;

type Success = 200 | 201 | 202 | 204 | 304;

/** The answer to a request; its status decides which body it has. */
export type AnswerOf<M extends Method, P extends PathOf<M>> =
  OperationOf<M, P> extends {
    readonly responses: infer Responses;
  }
    ? {
        [S in keyof Responses & Success]: {
          readonly status: S;
          readonly headers: Headers;
          readonly body: BodyIn<Responses[S]>;
        };
      }[keyof Responses & Success]
    : never;

/** The lists that can be read page by page. */
export type PagedPath = {
  [P in PathOf<'GET'>]: [ParametersOf<OperationOf<'GET', P>, 'query'>] extends [never]
    ? never
    : 'cursor' extends keyof ParametersOf<OperationOf<'GET', P>, 'query'>
      ? P
      : never;
}[PathOf<'GET'>];

export type RowOf<P extends PagedPath> = AnswerOf<'GET', P>['body'] extends readonly (infer Row)[]
  ? Row
  : never;

/** An event of a resource is the resource itself, as it is answered without `/events`. */
export type EventOf<P extends EventsPath> =
  P extends `${infer Resource extends PathOf<'GET'>}/events`
    ? AnswerOf<'GET', Resource>['body']
    : never;
