/** A message as its provider would get it, for whoever looks at it before it is sent. */

import { NIL } from 'uuid';
import type { PlatformId } from '../../domain/device.ts';
import type { Message } from '../../domain/notification.ts';
import { PROVIDERS } from '../../providers/providers.ts';

/** With its size. The job's id stands where NIL does when there is a job. */
export function renderedFor(platformId: PlatformId, message: Omit<Message, 'notificationId'>) {
  const { name, content, payloadBytesMax } = PROVIDERS[platformId];
  const rendered = content({ ...message, notificationId: NIL }, message.dueAtMs);
  return {
    provider: name,
    sizeBytes: Buffer.byteLength(rendered),
    sizeBytesMax: payloadBytesMax,
    message: JSON.parse(rendered) as unknown,
  };
}
