/**
 * The push services that may be sent to: endpoints are strangers'. Entries: `push.example.com`,
 * `*.push.example.com` (any name below it), or with a port, `localhost:8443`.
 */

/** Google, Mozilla, Apple, Microsoft. */
export const DEFAULT_PUSH_HOSTS: readonly string[] = Object.freeze([
  'fcm.googleapis.com',
  'jmt17.google.com',
  'updates.push.services.mozilla.com',
  '*.push.services.mozilla.com',
  'web.push.apple.com',
  '*.push.apple.com',
  '*.notify.windows.com',
]);

/** `public`: only in the public internet. `named`: by host and port, so it may be anywhere. */
export type Admission = 'no' | 'public' | 'named';

export class AllowList {
  readonly #hosts = new Set<string>();
  readonly #suffixes: string[] = [];

  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      if (entry.startsWith(ANY_BELOW)) this.#suffixes.push(entry.slice(1).toLowerCase());
      else this.#hosts.add(hostOf(entry) ?? entry);
    }
  }

  /** Whether an origin is on the list. `origin`: as `URL` writes it. */
  admissionOf(origin: string): Admission {
    const { protocol, host, hostname, port } = new URL(origin);
    if (protocol !== 'https:') return 'no';
    if (this.#hosts.has(host)) return port === '' ? 'public' : 'named';
    const isBelow = port === '' && this.#suffixes.some((suffix) => hostname.endsWith(suffix));
    return isBelow ? 'public' : 'no';
  }
}

const ANY_BELOW = '*.';
const NAME = /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/i;

/** Whether an operator's entry is valid. */
export const isPushHost = (entry: string): boolean =>
  entry.startsWith(ANY_BELOW) ? NAME.test(entry.slice(ANY_BELOW.length)) : hostOf(entry) !== null;

const HOST_CHARACTERS = /^[\w.:[\]-]+$/;

/** Host and port as `URL` writes them. Null: the entry is not just these. */
function hostOf(entry: string): string | null {
  if (!HOST_CHARACTERS.test(entry) || !URL.canParse(`https://${entry}/`)) return null;
  const { host, href } = new URL(`https://${entry}/`);
  return href === `https://${host}/` ? host : null;
}
