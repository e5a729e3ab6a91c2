/** One-time links of the console, as commands print them. */

import { UsageError } from './operator-command.ts';

/** Under which address people reach the console. */
export const URL_FLAG = { url: { type: 'string', default: 'http://127.0.0.1:8080' } } as const;

/** The origin of an address that was given. */
export function readLinkUrl(text: string): string {
  if (!URL.canParse(text)) throw new UsageError(`--url must be an address as https://push.example`);
  return new URL(text).origin;
}

/** The link with a line that says what it is for. */
export const describeLink = (
  title: string,
  url: string,
  { path, expiresAtMs }: { readonly path: string; readonly expiresAtMs: number },
): string => `${title}, once, until ${new Date(expiresAtMs).toISOString()}:\n  ${url}${path}`;
