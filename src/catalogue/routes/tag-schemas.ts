/** Tags and groups of tags as the Admin API answers them, for the OpenAPI document. */

import { z } from 'zod';
import { epochMs, id, texts } from '../../http/openapi/parts.ts';

const shared = {
  sourceId: z.string().optional(),
  groupSourceId: z.string().optional(),
  expiration: epochMs.optional(),
  tagOptionalParameters: texts.optional(),
};

/** As `tag/id` and `tag/sourceId` answer it. */
export const publishedTag = z.object({ id, name: z.string(), ...shared }).meta({
  id: 'PublishedTag',
});

/** As v3 answers it. */
export const tag = z
  .object({
    id,
    name: z.string(),
    ...shared,
    groupId: id.optional(),
    appIds: z
      .array(id)
      .optional()
      .meta({ description: 'The apps it is connected to; absent: every app.' }),
  })
  .meta({ id: 'Tag', description: 'What a tag does not have is left out.' });

/** As v3 answers it. */
export const tagGroup = z
  .object({
    id,
    name: z.string(),
    sourceId: z.string().optional(),
    parentId: id.optional(),
    parentGroupSourceId: z.string().optional(),
  })
  .meta({ id: 'TagGroup', description: 'What a group does not have is left out.' });

const entry = { id, name: z.string().optional(), sourceId: z.string().nullish() };

/** The entries of a request, as they were given, with their ids. */
export const entries = z
  .object({
    tags: z
      .array(
        z.object({
          ...entry,
          groupSourceId: z.string().nullish(),
          expiration: epochMs.nullish(),
          tagOptionalParameters: texts.nullish(),
        }),
      )
      .optional(),
    groups: z.array(z.object({ ...entry, parentGroupSourceId: z.string().nullish() })).optional(),
  })
  .meta({ id: 'TagEntries', description: 'The entries of the request, with their ids.' });

/** As the App API answers it. */
export const appTag = z
  .object({
    id,
    name: z.string(),
    sourceId: z.string().optional(),
    tagOptionalParameters: texts.optional(),
  })
  .meta({ id: 'AppTag', description: 'A tag as apps see it. What it does not have is left out.' });
