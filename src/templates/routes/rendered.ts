/** Shows a message as its provider would get it, before it is sent. */

import { NIL } from 'uuid';
import { z } from 'zod';
import type { PlatformId } from '../../../packages/std/src/platforms.ts';
import type { Message } from '../../domain/notification.ts';
import { count } from '../../http/openapi/parts.ts';
import { PROVIDERS } from '../../providers/providers.ts';

/** One of the languages in an answer. */
export const renderedLanguage = z.object({
  tagSourceId: z.string().optional().meta({ description: 'Absent where `language` is there.' }),
  language: z.string().optional().meta({ description: 'Of `@language`.' }),
  sizeBytes: count,
  message: z.unknown(),
});

type Shown = Omit<Message, 'notificationId'>;

/** With its size, and in each of its languages. */
export function renderedFor(platformId: PlatformId, message: Shown) {
  const { name, payloadBytesMax } = PROVIDERS[platformId];
  const { languages = [] } = message.payload;
  return {
    provider: name,
    sizeBytesMax: payloadBytesMax(message.payload),
    ...inOneLanguage(platformId, message),
    ...(languages.length === 0
      ? {}
      : {
          languages: languages.map((one) => ({
            ...('language' in one ? { language: one.language } : { tagSourceId: one.tagSourceId }),
            ...inOneLanguage(platformId, { ...message, payload: one.payload }),
          })),
        }),
  };
}

/** The job's id stands where NIL does when there is a job. */
function inOneLanguage(platformId: PlatformId, message: Shown) {
  const { content } = PROVIDERS[platformId];
  const rendered = content({ ...message, notificationId: NIL }, message.dueAtMs);
  return { sizeBytes: Buffer.byteLength(rendered), message: JSON.parse(rendered) as unknown };
}
