/** What the OpenAPI document says of tags as resources. */

import { z } from 'zod';
import type { Operations } from '../../http/openapi/operation.ts';
import {
  count,
  epochMs,
  id,
  jsonAnswer,
  LINK,
  noContent,
  PAGE,
  pathId,
  platformId,
} from '../../http/openapi/parts.ts';
import { newTagForm, tagPatchForm } from './tag-forms.ts';
import { tag } from './tag-schemas.ts';

const TAG = { id: 2, name: 'Breaking news', sourceId: 'breaking-news' };
const path = { id: pathId('tag') };

export const tagResourceOperations = {
  listTags: {
    summary: 'List tags, by id',
    query: {
      ...PAGE,
      q: {
        description: 'With this text in the name or sourceId.',
        schema: z.string(),
        example: 'news',
      },
      groupId: { description: 'In this group; 0: in none.', schema: count, example: 0 },
      sourceId: {
        description: 'With this sourceId.',
        schema: z.string(),
        example: 'breaking-news',
      },
      appId: { description: 'Connected to this app.', schema: id, example: 1 },
    },
    answers: { 200: jsonAnswer('The tags.', z.array(tag), [TAG], LINK) },
    problems: [400],
  },
  createTag: {
    summary: 'Make a tag',
    body: { schema: newTagForm, example: { name: 'Tennis', sourceId: 'all-tennis' } },
    answers: { 201: jsonAnswer('Made.', tag, { id: 8, name: 'Tennis', sourceId: 'all-tennis' }) },
    problems: [400, 409],
  },
  getTag: {
    summary: 'One tag',
    path,
    answers: { 200: jsonAnswer('The tag.', tag, TAG) },
    problems: [404],
  },
  changeTag: {
    summary: 'Change or move a tag',
    description: 'An absent field keeps its value, null clears it.',
    path,
    body: { schema: tagPatchForm, example: { name: 'News' } },
    answers: { 200: jsonAnswer('Changed.', tag, { ...TAG, name: 'News' }) },
    problems: [400, 404, 409],
  },
  deleteTag: {
    summary: 'Delete a tag',
    description:
      'Devices lose it in the background: `removals` tells how far that is. 409: an operation on its members has not ended.',
    path,
    answers: { 204: noContent('Deleted.') },
    problems: [404, 409],
  },
  listRemovals: {
    summary: 'Tags that devices have still to lose, and apps that are being erased',
    description:
      'Tags that were deleted, or disconnected from an app, and apps that were deleted. What is no longer listed is done.',
    query: PAGE,
    answers: {
      200: jsonAnswer(
        'Tags and apps, by id.',
        z.array(
          z.object({
            tagId: id.optional(),
            appId: id.optional(),
            name: z.string(),
            deletedAt: epochMs.optional().meta({ description: 'Absent: it was disconnected.' }),
            devices: count,
            devicesByApp: z.array(z.object({ appId: id, platformId, devices: count })),
          }),
        ),
        [
          {
            tagId: 8,
            name: 'Goals',
            deletedAt: 1_795_392_000_000,
            devices: 1,
            devicesByApp: [{ appId: 1, platformId: 3, devices: 1 }],
          },
        ],
        LINK,
      ),
    },
    problems: [400],
  },
} as const satisfies Operations;
