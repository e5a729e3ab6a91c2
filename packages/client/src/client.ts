/**
 * The client: one typed request, lists row by row, and the events of a push job.
 *
 *     const tagcast = new TagcastClient({ baseUrl, token, client: 'acme' });
 *     const { body } = await tagcast.request('POST', '/push-api/push', {
 *       body: { tagSourceIds: ['news'], payload: { title: 'Hello' } },
 *     });
 */

import { readEvents, Silence } from './events.ts';
import { ProblemError, problemOf } from './problem.ts';
import type { RetryLimits } from './retry.ts';
import { pause, pauseMsBefore, RETRY_LIMITS } from './retry.ts';
import type {
  AnswerOf,
  AskedPath,
  EventOf,
  EventsPath,
  Method,
  PagedPath,
  RequestOf,
  RowOf,
} from './types.ts';

// biome-ignore lint/performance/noBarrelFile: the entry of a package.
export { ProblemError } from './problem.ts';
export type { RetryLimits } from './retry.ts';
export type {
  AnswerOf,
  AskedPath,
  EventOf,
  EventsPath,
  Method,
  PagedPath,
  PathOf,
  RequestOf,
  RowOf,
} from './types.ts';

export interface ClientOptions {
  /** `https://push.example.com`, without the path of an API. */
  readonly baseUrl: string;
  /** `tca_…` for an app, `tcs_…` or `tck_…` for a publisher; absent: only what is open to all. */
  readonly token?: string;
  /** The client's slug, which v3 paths and the Admin API name. */
  readonly client?: string;
  /** For each attempt; of a stream of events, the longest silence. */
  readonly timeoutMs?: number;
  readonly retry?: Partial<RetryLimits>;
  /** In place of the global one. */
  readonly fetch?: typeof globalThis.fetch;
}

/**
 * Longer than the engine takes for anything, and than a stream of events is silent; an answer that
 * is lost is not waited for.
 */
const TIMEOUT_MS = 30_000;
/** Pause before a broken stream is requested again, unless the stream has named another. */
const RECONNECT_MS = 3_000;
/**
 * Requests that the engine keeps an Idempotency-Key for: without one, a repetition may send twice.
 */
const SUBMITTING: ReadonlySet<string> = new Set([
  '/push-api/push',
  '/push-api/v3/{client}/notifications',
  '/push-api/v3/{client}/notifications/{id}/retry',
]);
/** Registering a device twice is registering it once. */
const APP_API = /\/push-api\/(reg|ureg|set|list|tags)$/;
const KEY_OCTETS = 16;
/** Rows of a page: a list is read whole, so large ones. */
const PAGE_ROWS = 1_000;
/** A push is answered with JSON only if that is preferred. */
const ACCEPT = 'application/json, text/plain;q=0.5';
const PARAMETER = /\{(\w+)\}/g;
const NEXT = /<([^>]*)>; *rel="next"/;

/** A request before its types are looked at. */
interface Loose {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

interface Page<Row> {
  readonly body: readonly Row[];
  readonly headers: Headers;
}

/** No argument is needed where nothing has to be given. */
type Args<T> = Record<never, never> extends T ? [request?: T] : [request: T];

export class TagcastClient {
  readonly #options: ClientOptions;
  readonly #limits: RetryLimits;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#limits = { ...RETRY_LIMITS, ...options.retry };
  }

  /**
   * Sends a request of the document. Resolves with its answer; rejects with a ProblemError when it
   * is refused, and as `fetch` does when there is no answer. What is refused for the moment (429,
   * 503) is sent again, after the pause that the engine asks for.
   */
  async request<M extends Method, P extends AskedPath<M>>(
    method: M,
    path: P,
    ...[request]: Args<RequestOf<M, P>>
  ): Promise<AnswerOf<M, P>> {
    const response = await this.#send(method, path, request ?? {});
    return {
      status: response.status,
      headers: response.headers,
      body: await bodyOf(response),
    } as AnswerOf<M, P>;
  }

  /** The rows of a list, fetched page by page as they are read. */
  async *rows<P extends PagedPath & AskedPath<'GET'>>(
    path: P,
    ...[request]: Args<RequestOf<'GET', P>>
  ): AsyncGenerator<RowOf<P>, void, undefined> {
    const loose: Loose = request ?? {};
    let query: Readonly<Record<string, unknown>> = { limit: PAGE_ROWS, ...loose.query };
    while (true) {
      const asked = [{ ...loose, query }] as unknown as Args<RequestOf<'GET', P>>;
      const answer: unknown = await this.request<'GET', P>('GET', path, ...asked);
      const { body, headers } = answer as Page<RowOf<P>>;
      yield* body;
      const next = NEXT.exec(headers.get('link') ?? '')?.[1];
      if (next === undefined) return;
      query = { ...query, cursor: new URL(next, this.#options.baseUrl).searchParams.get('cursor') };
    }
  }

  /**
   * Follows a push job until it has ended: yields the whole job each time it has changed. A stream
   * that breaks off is requested again, as often as a request is sent; each event resets the count.
   */
  async *events<P extends EventsPath>(
    path: P,
    ...[request]: Args<RequestOf<'GET', P>>
  ): AsyncGenerator<EventOf<P>, void, undefined> {
    const loose: Loose = request ?? {};
    const { timeoutMs = TIMEOUT_MS } = this.#options;
    let pauseMs = RECONNECT_MS;
    for (let attempts = 1; ; attempts += 1) {
      const silence = new Silence(timeoutMs);
      try {
        const { body } = await this.#send('GET', path, loose, silence);
        for await (const { event, data, retry } of readEvents(body, () => silence.heard())) {
          if (DIGITS.test(retry)) pauseMs = Number(retry);
          if (event === 'end') return;
          if (event !== 'progress') continue;
          attempts = 0;
          yield JSON.parse(data) as EventOf<P>;
        }
        if (attempts >= this.#limits.attemptsMax) throw new Error(`${path} broke off.`);
      } catch (error) {
        const isFinal = error instanceof ProblemError || loose.signal?.aborted === true;
        if (isFinal || attempts >= this.#limits.attemptsMax) throw error;
      } finally {
        silence.stop();
      }
      await pause(pauseMs, loose.signal);
    }
  }

  #urlOf(path: string, { path: parts = {}, query = {} }: Loose): URL {
    const { baseUrl, client } = this.#options;
    const known: Readonly<Record<string, unknown>> = { client, ...parts };
    const filled = path.replaceAll(PARAMETER, (_, name: string) => {
      if (known[name] === undefined) throw new TypeError(`${path} needs ${name}.`);
      return encodeURIComponent(String(known[name]));
    });
    const url = new URL(baseUrl.replace(TRAILING_SLASH, '') + filled);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== null) url.searchParams.set(name, String(value));
    }
    return url;
  }

  #initOf(method: Method, path: string, { headers = {}, body }: Loose): RequestInit {
    const { token } = this.#options;
    const fields = new Headers({ Accept: ACCEPT });
    for (const [name, value] of Object.entries(headers)) fields.set(name, String(value));
    if (token !== undefined) fields.set('Authorization', `Bearer ${token}`);
    if (method === 'POST' && SUBMITTING.has(path) && !fields.has('Idempotency-Key')) {
      fields.set('Idempotency-Key', randomKey());
    }
    if (body === undefined) return { method, headers: fields };
    fields.set('Content-Type', 'application/json');
    return { method, headers: fields, body: JSON.stringify(body) };
  }

  /** `silence`: of a stream, in place of the time for the whole answer. */
  async #send(method: Method, path: string, loose: Loose, silence?: Silence): Promise<Response> {
    const { fetch = globalThis.fetch, timeoutMs = TIMEOUT_MS } = this.#options;
    const url = this.#urlOf(path, loose);
    const init = this.#initOf(method, path, loose);
    const { signal } = loose;
    const isIdempotent =
      method !== 'POST' ||
      new Headers(init.headers).has('Idempotency-Key') ||
      APP_API.test(url.pathname);
    let pausedMs = 0;
    for (let attempts = 1; ; attempts += 1) {
      silence?.heard();
      const limit = silence?.signal ?? AbortSignal.timeout(timeoutMs);
      const ended = signal === undefined ? limit : AbortSignal.any([signal, limit]);
      const response = await fetch(url, { ...init, signal: ended });
      if (response.ok || response.status === 304) return response;
      const sofar = { attempts, pausedMs, isIdempotent };
      const pauseMs = pauseMsBefore(response, sofar, this.#limits);
      if (pauseMs === null) throw await problemOf(response);
      await response.body?.cancel();
      silence?.stop();
      await pause(pauseMs, signal);
      pausedMs += pauseMs;
    }
  }
}

const TRAILING_SLASH = /\/+$/;
const DIGITS = /^\d+$/;

/** Not `randomUUID`, which browsers have on secure pages only. */
const randomKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(KEY_OCTETS))]
    .map((octet) => octet.toString(16).padStart(2, '0'))
    .join('');

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text();
  if (text === '') return undefined;
  return response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text;
}
