/** What the OpenAPI document says of tags on the Admin API, as the public service has them. */

import { z } from 'zod';
import type { Operation, Operations } from '../../http/openapi/operation.ts';
import { jsonAnswer, pathId } from '../../http/openapi/parts.ts';
import { addForm, oneForm } from './tag-forms.ts';
import { entries, publishedTag } from './tag-schemas.ts';

const TAG = { id: 2, name: 'Breaking news', sourceId: 'breaking-news' };

const changesOne = (summary: string, name?: string): Operation => ({
  summary,
  description:
    'Exactly one tag or group, named by its id or, without one, by its sourceId. An absent field keeps its value, null clears it.',
  body: {
    schema: oneForm,
    example: { tags: [{ sourceId: 'goals', ...(name === undefined ? {} : { name }) }] },
    isAlsoMultipart: true,
  },
  answers: {
    200: jsonAnswer('The entry with its id.', entries, { tags: [{ id: 8, sourceId: 'goals' }] }),
  },
  problems: [400, 404, 409],
});

const findsOne = (summary: string): Pick<Operation, 'summary' | 'answers' | 'problems'> => ({
  summary,
  answers: { 200: jsonAnswer('The tag, expired or not.', publishedTag, TAG) },
  problems: [404],
});

export const tagOperations = {
  addTags: {
    summary: 'Make sure that tags and groups exist',
    description:
      'All or none. An entry with a known sourceId is updated, any other is made. Groups come first, so a tag may name a group of the same request.',
    body: {
      schema: addForm,
      example: {
        groups: [{ name: 'Matches', sourceId: 'matches' }],
        tags: [{ name: 'Goals', sourceId: 'goals', groupSourceId: 'matches' }],
      },
      isAlsoMultipart: true,
    },
    answers: {
      200: jsonAnswer('The entries with their ids.', entries, {
        tags: [{ id: 8, name: 'Goals', sourceId: 'goals' }],
      }),
    },
    problems: [400],
  },
  updateTag: changesOne('Change or move a tag or a group', 'All goals'),
  removeTag: changesOne('Delete a tag, or an empty group'),
  findTagBySourceId: {
    ...findsOne('Find a tag by its sourceId'),
    path: {
      value: {
        description: 'The sourceId of the tag.',
        schema: z.string(),
        example: 'breaking-news',
      },
    },
  },
  findTagById: { ...findsOne('Find a tag by its id'), path: { value: pathId('tag') } },
  checkCredential: {
    summary: 'Check whether a credential works',
    answers: { 200: jsonAnswer('It does.', z.object({ ok: z.literal(true) }), { ok: true }) },
  },
} as const satisfies Operations;
