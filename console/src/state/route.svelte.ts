/**
 * The address of what is open: `#/client/acme/tags?q=goal`. All of it is in the fragment, so no
 * server's log sees the token of a one-time link.
 */

class Route {
  /** The text after `#`, from its first slash. */
  #hash = $state(read());

  constructor() {
    addEventListener('hashchange', () => {
      this.#hash = read();
    });
  }

  /** The decoded parts of the path. */
  get parts(): readonly string[] {
    const [path = ''] = this.#hash.split('?');
    return path
      .split('/')
      .filter((part) => part !== '')
      .map(decoded);
  }

  get query(): URLSearchParams {
    return new URLSearchParams(this.#hash.split('?')[1] ?? '');
  }

  /** Goes there, as a link would. */
  go(path: string): void {
    location.hash = path;
  }

  /** Goes there when `first` has ended, unless somebody has gone elsewhere meanwhile. */
  async goAfter(first: Promise<void>, path: string): Promise<void> {
    const from = this.#hash;
    await first;
    if (this.#hash === from) this.go(path);
  }

  /** Goes there in place of this address: a step back leads to where one was before. */
  replace(path: string): void {
    history.replaceState(null, '', `#${path}`);
    this.#hash = read();
  }

  /** Sets parameters of this address; '' takes one away. A filter is no step of its own. */
  filter(parameters: Readonly<Record<string, string>>): void {
    const [path = ''] = this.#hash.split('?');
    const query = this.query;
    for (const [name, value] of Object.entries(parameters)) {
      if (value === '') query.delete(name);
      else query.set(name, value);
    }
    this.replace(query.size === 0 ? path : `${path}?${query}`);
  }
}

const read = (): string => location.hash.slice(1) || '/';

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // Somebody typed a % that encodes nothing: taken as it stands.
    return part;
  }
}

/** The path of a room of a client. */
export const roomPath = (clientId: string, ...parts: readonly (string | number)[]): string =>
  ['', 'client', clientId, ...parts].map((part) => encodeURIComponent(part)).join('/');

/** The page System: of the engine, and so of no client. */
export const SYSTEM_PATH = '/system';

/** The address of this page. */
export const route = new Route();
