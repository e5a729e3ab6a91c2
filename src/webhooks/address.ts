/** Any client can name an address, and requests to it come from the operator's own network. */

import { isIP } from 'node:net';
import { isPublicAddress } from '../std/public-address.ts';

/**
 * The length of a request line that is safe everywhere.
 * @limit characters of a webhook's address → `400`
 */
export const URL_LENGTH_MAX = 2_048;

/**
 * The fault of an address; null: it has none. A name is checked when it is connected to: until then
 * it may come to mean another address. `isPrivateAllowed`: the operator's setting.
 */
export function addressFault(text: string, isPrivateAllowed: boolean): string | null {
  if (text.length > URL_LENGTH_MAX) return `must have ${URL_LENGTH_MAX} characters at most`;
  if (!URL.canParse(text)) return isPrivateAllowed ? ANY_FORM : FORM;
  const { protocol, username, password, hash, hostname } = new URL(text);
  const isSecure = protocol === 'https:';
  if (!isSecure && !(isPrivateAllowed && protocol === 'http:')) {
    return isPrivateAllowed ? ANY_FORM : FORM;
  }
  if (username !== '' || password !== '') {
    return 'must have no user name and no password: receivers check the signature';
  }
  if (hash !== '') return 'must have no part after #, which no request carries';
  const address = hostOf(hostname);
  return isPrivateAllowed || isIP(address) === 0 || isPublicAddress(address) ? null : PRIVATE;
}

const FORM = 'must be an https:// URL';
const ANY_FORM = 'must be an https:// or http:// URL';
const PRIVATE =
  'must be in the public internet; the operator of this service can allow others (WEBHOOK_PRIVATE_ADDRESSES)';

export const hostOf = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');
