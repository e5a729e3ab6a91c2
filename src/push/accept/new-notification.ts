/** Makes a notification, to be written, of a push that was checked. */

import type { PlatformId } from '../../../packages/std/src/platforms.ts';
import type { ClientLimits } from '../../domain/client-limits.ts';
import { uuidV7 } from '../../domain/uuid-v7.ts';
import type { NewNotification } from '../sql/notifications/insert-notifications.ts';
import type { Fit } from './check.ts';
import type { Push } from './push.ts';

/** The caller of a push, and the key by which a repeated request is recognised. */
export interface Publisher {
  readonly requestId: string;
  /** The caller's own trace, as its request names it. Absent: none. */
  readonly traceparent?: string;
  readonly clientId: number;
  readonly userName: string;
  readonly idempotency: { readonly key: string; readonly bodyHash: Buffer } | null;
  /** Those that are set for the client. Absent: none. */
  readonly limits?: ClientLimits;
}

export const newNotification = (
  { push, publisher }: { readonly push: Push; readonly publisher: Publisher },
  { targets: { audience, scopes }, payload, templated }: Fit,
  isSimulated: (platformId: PlatformId) => boolean,
): NewNotification => ({
  ...publisher,
  id: uuidV7(),
  audience,
  ...(push.expression === undefined ? {} : { expression: push.expression.text }),
  payload,
  ...(templated === null ? {} : { templated }),
  ...push.options,
  ...(push.policy === undefined ? {} : { policy: push.policy }),
  sendAtMs: push.sendAtMs,
  ...(push.holdSeconds === undefined ? {} : { holdSeconds: push.holdSeconds }),
  expiresAtMs: push.expiresAtMs,
  ...(push.waves === undefined ? {} : { waves: push.waves }),
  scopes: scopes.map((scope) => ({ ...scope, isSimulated: isSimulated(scope.platformId) })),
});
