/** Which caller may use which API: the table of internals/interface.md, "Callers". */

import type { Caller } from '../domain/caller.ts';
import { isLimited } from '../domain/caller.ts';
import type { Api, ApiRoute, ClientRoute } from './handler.ts';
import type { Refusal } from './result.ts';
import { refuse } from './result.ts';

export function mayUse(route: ApiRoute, { role, key, isInGrace }: Caller): boolean {
  if (route.api === 'app') return role === 'api-user';
  if (role === 'super-user') return isInGrace !== true || !isForSuccessor(route);
  if (key === undefined || route.needs === 'super-user') return false;
  return route.needs === 'any-scope' || key.scopes.includes(route.needs);
}

/** One that leaked and was rotated must make nothing lasting, and not end its successor. */
const isForSuccessor = (route: ClientRoute): boolean =>
  route.needs === 'super-user' || route.isForSuccessor === true;

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
  'This credential was rotated: in its grace it reads, sends, and changes tags and devices. Keys, credentials, webhooks and templates, and which apps there are, are for the new one.';

/** Refuses a key with limits what concerns more than its tags and apps. Null: it may. */
export const outsideOfLimits = ({ caller }: { readonly caller: Caller }): Refusal | null =>
  isLimited(caller) ? refuse.outside() : null;

/** Whether answers warn that Basic is deprecated: apps that are shipped cannot change. */
export function tellsDeprecation(api: Api): boolean {
  switch (api) {
    case 'app':
      return false;
    case 'notification':
    case 'admin':
      return true;
  }
}
