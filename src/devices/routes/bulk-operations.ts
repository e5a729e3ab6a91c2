/** What the OpenAPI document says of bulk operations. */

import { z } from 'zod';
import { BULK_STATES, LIST_ACTIONS, MEMBER_ACTIONS } from '../../domain/bulk-operation.ts';
import type { Operations } from '../../http/openapi/operation.ts';
import {
  count,
  epochMs,
  id,
  jsonAnswer,
  LINK,
  PAGE,
  pathId,
  platformId,
} from '../../http/openapi/parts.ts';
import { membersForm, subscriptionsForm } from './bulk-requests.ts';

const counted = (description: string) => count.meta({ description });
const bulkOperation = z
  .object({
    id,
    action: z.enum([...LIST_ACTIONS, ...MEMBER_ACTIONS]),
    state: z.enum(BULK_STATES),
    userName: z.string(),
    appId: id.optional(),
    platformId: platformId.optional(),
    tagIds: z.array(id).optional(),
    tagId: id.optional().meta({ description: 'Whose members they are.' }),
    toTagId: id.optional(),
    total: counted('Devices when it was accepted.'),
    done: counted('The sum of the five counts.'),
    changed: count,
    unchanged: counted('They were so already, or left the tag meanwhile.'),
    unknown: counted('The app has no such device.'),
    full: counted('They have as many tags as a device may have.'),
    refused: counted('The tag was deleted, has expired or is not connected to their app.'),
    acceptedAt: epochMs,
    startedAt: epochMs.optional(),
    endedAt: epochMs.optional(),
  })
  .meta({ id: 'BulkOperation', description: 'A change of the tags of many devices.' });

const COUNTS = { done: 0, changed: 0, unchanged: 0, unknown: 0, full: 0, refused: 0 };
const MOVE = {
  id: 4,
  action: 'move',
  state: 'QUEUED',
  userName: 'demo-super',
  tagId: 2,
  toTagId: 3,
  total: 1,
  ...COUNTS,
  acceptedAt: 1_795_392_000_000,
};
const SUBSCRIBE = {
  id: 3,
  action: 'subscribe',
  state: 'QUEUED',
  userName: 'demo-super',
  appId: 1,
  platformId: 3,
  tagIds: [2],
  total: 2,
  ...COUNTS,
  acceptedAt: 1_795_392_000_000,
};
const BACKGROUND =
  'It is carried out in the background, after the earlier ones of the client; `operations` tells how far it is. Each device gets the whole change, or nothing of it.';
const PLACE = { Location: 'Where the operation is.' };
const path = { id: pathId('operation', 3) };

export const bulkOperations = {
  changeSubscriptions: {
    summary: 'Subscribe or unsubscribe a list of devices',
    description: BACKGROUND,
    path: { id: pathId('app', 1), platform: { ...pathId('platform', 3), schema: platformId } },
    body: {
      schema: subscriptionsForm,
      example: {
        action: 'subscribe',
        tagIds: [2],
        deviceIds: ['cd'.repeat(32), 'ef'.repeat(32)],
      },
    },
    answers: { 202: jsonAnswer('Accepted, and durable.', bulkOperation, SUBSCRIBE, PLACE) },
    problems: [400, 404],
  },
  changeMembers: {
    summary: 'Copy or move the members of a tag to another tag, or remove them',
    description: BACKGROUND,
    path: { id: pathId('tag') },
    body: { schema: membersForm, example: { action: 'move', toTagId: 3 } },
    answers: { 202: jsonAnswer('Accepted, and durable.', bulkOperation, MOVE, PLACE) },
    problems: [400, 404],
  },
  listBulkOperations: {
    summary: 'List bulk operations, newest first',
    query: {
      ...PAGE,
      limit: { ...PAGE.limit, description: 'How many operations; 100 if it is not given.' },
    },
    answers: {
      200: jsonAnswer('The operations.', z.array(bulkOperation), [MOVE, SUBSCRIBE], LINK),
    },
    problems: [400],
  },
  getBulkOperation: {
    summary: 'How far a bulk operation is',
    path,
    answers: { 200: jsonAnswer('The operation.', bulkOperation, SUBSCRIBE) },
    problems: [404],
  },
  cancelBulkOperation: {
    summary: 'Cancel a bulk operation',
    description: 'What was done stays done. Repeated, it changes nothing.',
    path,
    answers: {
      200: jsonAnswer('Cancelled.', bulkOperation, { ...SUBSCRIBE, state: 'CANCELLED' }),
    },
    problems: [404, 409],
  },
} as const satisfies Operations;
