/** Checks the operator's token, which the configuration holds. */

import { createHash, timingSafeEqual } from 'node:crypto';
import { parseAuthorization } from './authorization-header.ts';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Whether an Authorization header has this token; null: none has. */
export function createTokenCheck(token: string | null): (authorization: string) => boolean {
  if (token === null) return () => false;
  const right = digest(token);
  return (authorization) => {
    const presented = parseAuthorization(authorization);
    return presented.kind === 'bearer' && timingSafeEqual(digest(presented.token), right);
  };
}
