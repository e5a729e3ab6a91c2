/** Reads Authorization headers leniently (internals/existing-clients.md, "Who may call"). */

export type Presented =
  | { readonly kind: 'bearer'; readonly token: string }
  | { readonly kind: 'basic'; readonly username: string; readonly password: string }
  /** Nothing that we could check. */
  | { readonly kind: 'missing' };

const BEARER = /^bearer +(\S+)$/i;
const BASIC = /^basic +(\S+)$/i;

/** Schemes in any case (RFC 9110), base64 with or without padding; passwords may hold colons. */
export function parseAuthorization(header: string): Presented {
  const value = header.trim();
  const [, token] = BEARER.exec(value) ?? [];
  if (token !== undefined) return { kind: 'bearer', token };
  const [, encoded] = BASIC.exec(value) ?? [];
  if (encoded === undefined) return { kind: 'missing' };
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  if (colon < 0) return { kind: 'missing' };
  return { kind: 'basic', username: pair.slice(0, colon), password: pair.slice(colon + 1) };
}
