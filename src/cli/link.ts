/** One-time links of the console, as commands print them. */

import type { MadeLink } from '../access/accounts/links.ts';
import { UsageError } from './arguments.ts';

/** Under which address people reach the console. */
export const URL_FLAG = {
  url: {
    type: 'string',
    value: 'address',
    default: 'http://127.0.0.1:8080',
    about: 'under which people reach the console',
  },
} as const;

const WEB = /^https?:$/;
/** An operator who copies the address of the console itself means the same. */
const CONSOLE_AT_END = /(\/console)?\/*$/;

/** The text before the path of a link: an origin, and the path under which a proxy serves us. */
export function readLinkUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !WEB.test(url.protocol)) {
    throw new UsageError('--url must be an address as https://push.example');
  }
  return url.origin + url.pathname.replace(CONSOLE_AT_END, '');
}

/** The link of an answer, with the names that commands have for its parts. */
export const madeLink = ({
  body,
}: {
  readonly body: { readonly link: string; readonly expiresAt: number };
}): MadeLink => ({ path: body.link, expiresAtMs: body.expiresAt });

/** The link with a line that says what it is for. */
export const describeLink = (title: string, url: string, { path, expiresAtMs }: MadeLink): string =>
  `${title}, once, until ${new Date(expiresAtMs).toISOString()}:\n  ${url}${path}`;
