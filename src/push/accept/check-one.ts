/** Looks up and checks one push that is not accepted with others. */

import type { Checked } from './check.ts';
import { check } from './check.ts';
import type { Content, ContentParts } from './contents.ts';
import { contentsOf } from './contents.ts';
import type { Push, PushFault } from './push.ts';
import { resolve } from './resolve.ts';

/** Never used: there is a content for each push. */
export const NOTHING: Content = { kind: 'fit', payload: { data: {} }, templated: null };

/** `knownFaults`: faults that depend on the present time only. */
export async function checkOne(
  parts: ContentParts,
  clientId: number,
  push: Push,
  knownFaults: readonly PushFault[],
): Promise<Checked> {
  const [targets] = await resolve(parts.sql, clientId, [push]);
  if (targets === undefined) throw new Error('nothing was looked up');
  const asked = [{ push, scopes: targets.scopes }];
  const [content = NOTHING] = await contentsOf(parts, clientId, asked);
  return check(targets, content, knownFaults);
}
