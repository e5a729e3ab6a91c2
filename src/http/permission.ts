/** Which caller may use which API: the table of spec/interface.md, section 2. */

import type { Caller } from '../access/caller.ts';
import type { Api, ApiRoute } from './handler.ts';

/** Whether a caller may use a route at all. */
export function mayUse(route: ApiRoute, { role, key, isInGrace }: Caller): boolean {
  if (route.api === 'app') return role === 'api-user';
  // One that leaked and was rotated must make nothing that outlives it, and not end its successor.
  if (role === 'super-user') return route.needs !== 'super-user' || isInGrace !== true;
  if (key === undefined || route.needs === 'super-user') return false;
  return route.needs === 'any-scope' || key.scopes.includes(route.needs);
}

/** The sentence for a caller that may not use the route. */
export function whyNot(route: ApiRoute, { role, key, account }: Caller): string {
  if (role === 'super-user' && account === undefined && route.api !== 'app') return ROTATED;
  if (account !== undefined && route.api !== 'app') {
    return `Your role in this client is ${account.role}, which may not do this.`;
  }
  if (key === undefined || route.api === 'app') return 'This credential is for another API.';
  if (route.needs === 'super-user') return 'This is for the super user: no key is enough.';
  return `This key does not have the scope ${route.needs}.`;
}

/** The sentence for a super user who had the right, and has lost it since the request began. */
export const whyNoMore = ({ account }: Caller): string =>
  account === undefined ? ROTATED : 'This is for owners of the client.';

const ROTATED =
  'This credential was rotated: in its grace it reads and sends, but keys, credentials and webhooks are for the new one.';

/**
 * Whether answers of this API tell callers with Basic that it is deprecated. On the App API, Basic
 * is part of shipped apps, which cannot change it.
 */
export function tellsDeprecation(api: Api): boolean {
  switch (api) {
    case 'app':
      return false;
    case 'notification':
    case 'admin':
      return true;
  }
}
