/** What the OpenAPI document says of groups of tags as resources. */

import { z } from 'zod';
import type { Operations } from '../../http/openapi/operation.ts';
import { jsonAnswer, LINK, noContent, PAGE, pathId } from '../../http/openapi/parts.ts';
import { groupPatchForm, newGroupForm } from './tag-forms.ts';
import { tagGroup } from './tag-schemas.ts';

const GROUP = { id: 6, name: 'Sports', sourceId: 'sports' };
const path = { id: pathId('group', GROUP.id) };

export const tagGroupOperations = {
  listTagGroups: {
    summary: 'List groups of tags, by id',
    query: PAGE,
    answers: { 200: jsonAnswer('The groups.', z.array(tagGroup), [GROUP], LINK) },
    problems: [400],
  },
  createTagGroup: {
    summary: 'Make a group of tags',
    body: { schema: newGroupForm, example: { name: 'Winter', sourceId: 'winter', parentId: 6 } },
    answers: {
      201: jsonAnswer('Made.', tagGroup, {
        id: 9,
        name: 'Winter',
        sourceId: 'winter',
        parentId: 6,
        parentGroupSourceId: 'sports',
      }),
    },
    problems: [400, 409],
  },
  getTagGroup: {
    summary: 'One group of tags',
    path,
    answers: { 200: jsonAnswer('The group.', tagGroup, GROUP) },
    problems: [404],
  },
  changeTagGroup: {
    summary: 'Change or move a group of tags',
    description: 'An absent field keeps its value, null clears it.',
    path,
    body: { schema: groupPatchForm, example: { name: 'All sports' } },
    answers: { 200: jsonAnswer('Changed.', tagGroup, { ...GROUP, name: 'All sports' }) },
    problems: [400, 404, 409],
  },
  deleteTagGroup: {
    summary: 'Delete an empty group of tags',
    path,
    answers: { 204: noContent('Deleted.') },
    problems: [404, 409],
  },
} as const satisfies Operations;
