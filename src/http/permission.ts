/** Which caller may use which API: the table of spec/interface.md, section 2. */

import type { Caller } from '../access/caller.ts';
import type { Api, ApiRoute } from './handler.ts';

/** Whether a caller may use a route at all. */
export function mayUse(route: ApiRoute, { role, key }: Caller): boolean {
  if (route.api === 'app') return role === 'api-user';
  if (role === 'super-user') return true;
  if (key === undefined || route.needs === 'super-user') return false;
  return route.needs === 'any-scope' || key.scopes.includes(route.needs);
}

/** The sentence for a caller that may not use the route. */
export function whyNot(route: ApiRoute, { key, account }: Caller): string {
  if (account !== undefined && route.api !== 'app') {
    return `Your role in this client is ${account.role}, which may not do this.`;
  }
  if (key === undefined || route.api === 'app') return 'This credential is for another API.';
  if (route.needs === 'super-user') return 'This is for the super user: no key is enough.';
  return `This key does not have the scope ${route.needs}.`;
}

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
