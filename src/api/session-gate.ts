/**
 * Admits requests with a session: an owner calls as the super user, others with their role's
 * scopes. Browsers send the cookie by themselves, so the request must come from our own page.
 */

import type { RequestHead } from '../../packages/http1/src/request-head.ts';
import { memberOf } from '../access/accounts/sessions.ts';
import type { Caller } from '../domain/caller.ts';
import type { Session } from '../domain/session.ts';
import type { ApiRoute, ConsoleRoute, Route } from '../http/handler.ts';
import { mayUse, whyNot } from '../http/permission.ts';
import { isOfOwnPage } from '../http/request-origin.ts';
import { sessionTokenIn } from '../http/session-cookie.ts';

export type SessionRoute = ApiRoute | ConsoleRoute;

export type Passage =
  /** `caller`: in the client that the request names; null: the route concerns none. */
  | { readonly isOpen: true; readonly caller: Caller | null }
  | { readonly isOpen: false; readonly status: 400 | 403; readonly why: string };

/** Null: by none. An Authorization header counts before a cookie, which callers may not know of. */
export function presentedSession(
  route: Route,
  { headers }: RequestHead,
  isSecure: () => boolean,
): string | null {
  const cookies = headers.get('cookie');
  if (cookies === '' || route.api === 'open' || route.api === 'operator') return null;
  const isForOthers =
    route.api === 'console' ? route.needs === 'nobody' : headers.get('authorization') !== '';
  return isForOthers ? null : sessionTokenIn(cookies, isSecure());
}

const OPEN: Passage = { isOpen: true, caller: null };
const shut = (status: 400 | 403, why: string): Passage => ({ isOpen: false, status, why });

const FOREIGN = 'This is for pages of this service only: the request comes from elsewhere.';
const NO_CSRF_TOKEN =
  'A request with a session needs the header X-CSRF-Token with the csrfToken that GET /console/api/session answers.';

export const passOfVisitor = (head: RequestHead): Passage =>
  isOfOwnPage(head) ? OPEN : shut(403, FOREIGN);

export function passOf(
  route: SessionRoute,
  params: Readonly<Record<string, string>>,
  head: RequestHead,
  session: Session,
  hasCsrfToken: boolean,
): Passage {
  if (!isOfOwnPage(head)) return shut(403, FOREIGN);
  const isByCookie = route.api === 'console' && route.needs === 'cookie';
  if (!isByCookie && !hasCsrfToken) return shut(403, NO_CSRF_TOKEN);
  return route.api === 'console' && route.needs !== 'owner'
    ? passAsAccount(route, session)
    : passAsMember(route, params, head, session);
}

const passAsAccount = ({ needs }: ConsoleRoute, { isOperator }: Session): Passage =>
  needs === 'operator' && !isOperator ? shut(403, 'This is for accounts of the operator.') : OPEN;

/** The refusal does not reveal whether another client exists. */
function passAsMember(
  route: SessionRoute,
  params: Readonly<Record<string, string>>,
  { headers }: RequestHead,
  session: Session,
): Passage {
  const slug = params['client'] ?? headers.get('tagcast-client');
  if (slug === '') return shut(400, 'Name the client in the header Tagcast-Client.');
  const caller = memberOf(session, slug);
  if (caller === null) return shut(403, 'This account does not belong to this client.');
  if (caller === 'disabled') return shut(403, 'This client is disabled.');
  const isAllowed = route.api === 'console' ? caller.role === 'super-user' : mayUse(route, caller);
  if (isAllowed) return { isOpen: true, caller };
  return shut(
    403,
    route.api === 'console' ? 'This is for owners of the client.' : whyNot(route, caller),
  );
}
