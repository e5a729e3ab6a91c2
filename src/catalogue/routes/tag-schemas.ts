/** Tags as the Admin API and the App API answer them. */

import { z } from 'zod';
import { epochMs, id, orAbsent, texts } from '../../http/openapi/parts.ts';

/** Those of a tag in every answer. */
export const tagProperties = {
  id,
  name: z.string(),
  sourceId: orAbsent(z.string()),
  groupSourceId: orAbsent(z.string()),
  expiration: orAbsent(epochMs),
  tagOptionalParameters: orAbsent(texts),
};

export const appTag = z
  .object({
    id,
    name: z.string(),
    sourceId: z.string().optional(),
    tagOptionalParameters: texts.optional(),
  })
  .meta({ id: 'AppTag', description: 'A tag as apps see it. What it does not have is left out.' });
