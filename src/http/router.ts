/** Finds the route of a method and path. Pure: knows no server and no handler. */

interface Routable {
  readonly method: string;
  readonly path: string;
  /** The App API takes slashes too many. */
  readonly api: string;
}

export interface Found<R> {
  readonly kind: 'found';
  readonly route: R;
  readonly params: Readonly<Record<string, string>>;
}

export type Match<R> =
  | Found<R>
  /** `meant`: there is this path, with other slashes. */
  | { readonly kind: 'not-found'; readonly meant?: string }
  | { readonly kind: 'method-not-allowed'; readonly allow: readonly string[] }
  /** A parameter with an invalid percent-encoding. */
  | { readonly kind: 'bad-encoding' };

interface Path<R> {
  readonly segments: readonly string[];
  readonly routes: Map<string, R>;
}

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});

export class Router<R extends Routable> {
  /** Paths without parameters, among them all on the hot path: found by one look-up. */
  readonly #literal = new Map<string, Path<R>>();
  readonly #patterns: Path<R>[] = [];

  constructor(routes: readonly R[]) {
    for (const route of routes) {
      const { routes: methods } = this.#pathOf(route.path);
      if (methods.has(route.method)) throw new Error(`${route.method} ${route.path} twice`);
      methods.set(route.method, route);
      // RFC 9110, section 9.1: a server supports GET and HEAD.
      if (route.method === 'GET') methods.set('HEAD', route);
    }
  }

  match(method: string, path: string): Match<R> {
    const literal = this.#literal.get(path);
    if (literal !== undefined) return pick(literal, method, NO_PARAMS);
    const segments = path.split('/');
    const pattern = this.#patterns.find((candidate) => fits(candidate.segments, segments));
    if (pattern === undefined) return this.#withOtherSlashes(method, path);
    const params = decodeParams(pattern.segments, segments);
    return params === null ? { kind: 'bad-encoding' } : pick(pattern, method, params);
  }

  /**
   * Connectors in apps add slashes, and cannot be changed: on the App API the path without is
   * meant. Elsewhere the answer only names it: a proxy may refuse paths.
   */
  #withOtherSlashes(method: string, path: string): Match<R> {
    const meant = `/${path
      .split('/')
      .filter((segment) => segment !== '')
      .join('/')}`;
    if (meant === path) return { kind: 'not-found' };
    const match = this.match(method, meant);
    if (match.kind === 'found' && match.route.api === 'app') return match;
    return match.kind === 'not-found' ? match : { kind: 'not-found', meant };
  }

  #pathOf(path: string): Path<R> {
    const known =
      this.#literal.get(path) ??
      this.#patterns.find((candidate) => candidate.segments.join('/') === path);
    if (known !== undefined) return known;
    const made: Path<R> = { segments: path.split('/'), routes: new Map() };
    if (made.segments.some(isParam)) this.#patterns.push(made);
    else this.#literal.set(path, made);
    return made;
  }
}

const isParam = (segment: string): boolean => segment.startsWith(':');

/** Any segment but an empty one. An encoded slash stays inside of its segment. */
const fits = (pattern: readonly string[], segments: readonly string[]): boolean =>
  pattern.length === segments.length &&
  pattern.every((part, index) =>
    isParam(part) ? segments[index] !== '' : part === segments[index],
  );

function decodeParams(
  pattern: readonly string[],
  segments: readonly string[],
): Readonly<Record<string, string>> | null {
  const params: Record<string, string> = {};
  for (const [index, part] of pattern.entries()) {
    if (!isParam(part)) continue;
    try {
      params[part.slice(1)] = decodeURIComponent(segments[index] ?? '');
    } catch {
      // URIError, the only possible error: a % is not part of a valid percent-encoding of UTF-8.
      return null;
    }
  }
  return params;
}

function pick<R>(
  path: Path<R>,
  method: string,
  params: Readonly<Record<string, string>>,
): Match<R> {
  const route = path.routes.get(method);
  return route === undefined
    ? { kind: 'method-not-allowed', allow: [...path.routes.keys()] }
    : { kind: 'found', route, params };
}
