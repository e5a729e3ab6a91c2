/** The cookie that holds the token of a session. */

/** For a day's clock that is off: the server ends sessions, not the cookie. */
const MAX_AGE_SECONDS = 604_800;

/** With `__Host-` browsers refuse it from another host of the domain, and without TLS. */
const nameOf = (isSecure: boolean): string =>
  isSecure ? '__Host-tagcast_session' : 'tagcast_session';

/** Spaces and tabs only: `trim` would remove what belongs to the name of another cookie. */
const AROUND = /^[ \t]+|[ \t]+$/g;

/**
 * The token in a Cookie header (RFC 6265, 4.2.1). Null: none. Two cookies of the name, which no
 * browser sends, count as none: either could be wrong.
 */
export function sessionTokenIn(cookies: string, isSecure: boolean): string | null {
  if (cookies === '') return null;
  const begin = `${nameOf(isSecure)}=`;
  const [own, second] = cookies
    .split(';')
    .map((cookie) => cookie.replace(AROUND, ''))
    .filter((cookie) => cookie.startsWith(begin));
  if (own === undefined || second !== undefined) return null;
  return own === begin ? null : own.slice(begin.length);
}

/** The value of Set-Cookie. `token` null: the browser forgets the cookie. */
export function sessionCookie(token: string | null, isSecure: boolean): string {
  const age = token === null ? 0 : MAX_AGE_SECONDS;
  const secure = isSecure ? '; Secure' : '';
  return `${nameOf(isSecure)}=${token ?? ''}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${age}${secure}`;
}
