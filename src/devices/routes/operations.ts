/** What the OpenAPI document says of the App API. Its parameters are read leniently, by hand. */

import { z } from 'zod';
import { appTag } from '../../catalogue/routes/tag-schemas.ts';
import { DEVICE_ID_LENGTH_MAX } from '../../domain/device.ts';
import { TAGS_PER_REQUEST_MAX } from '../../domain/tag.ts';
import type { Answer, Operations, Parameter } from '../../http/openapi/operation.ts';
import { count, id, jsonAnswer, looseId } from '../../http/openapi/parts.ts';
import { attributeFields } from './attribute-forms.ts';
import { replaceForm } from './replace.ts';

const deviceId = z.string().min(1).max(DEVICE_ID_LENGTH_MAX).meta({
  description:
    'What the provider gave to the app: its token, installation id, or subscription of a browser.',
});
const one = z.union([looseId, z.looseObject({ id: looseId })]);
const oneOrSome = <T extends z.ZodType>(entry: T) =>
  z.union([entry, z.array(entry).max(TAGS_PER_REQUEST_MAX)]);

const device = z
  .looseObject({
    appId: looseId,
    platformId: looseId,
    deviceId,
    tagId: oneOrSome(one)
      .optional()
      .meta({ description: 'Ids of tags, or tags as `list` answers them.' }),
    tagSourceId: oneOrSome(z.string()).optional().meta({ description: 'sourceIds of tags.' }),
    ...attributeFields,
  })
  .meta({ id: 'DeviceTagsRequest' });

interface AppTagGroup {
  id?: number | undefined;
  sourceId?: string | undefined;
  name: string;
  tags: z.infer<typeof appTag>[];
  groups?: AppTagGroup[] | undefined;
}
const appTagGroup: z.ZodType<AppTagGroup> = z
  .object({
    id: count.optional(),
    sourceId: z.string().optional(),
    name: z.string(),
    tags: z.array(appTag),
    get groups() {
      return z.array(appTagGroup).optional();
    },
  })
  .meta({
    id: 'AppTagGroup',
    description:
      'A group of tags. The first group of a tree, `default`, holds the tags without a group: it has no `groups`, and no `id` or the `id` 0.',
  });

const DEVICE = { appId: 1, platformId: 3, deviceId: 'ab'.repeat(32) };
const OK: Answer = {
  description: 'Durable, or ignored: parameters are never an error.',
  content: { 'text/plain': { schema: z.literal('OK'), example: 'OK' } },
  headers: { 'Tagcast-Ignored': 'The parameters that were ignored, unknown ones included.' },
};
const changes = { answers: { 200: OK }, problems: [429] } as const;
const TREE_EXAMPLE = [
  { name: 'default', tags: [{ id: 2, name: 'Breaking news', sourceId: 'breaking-news' }] },
  { id: 6, sourceId: 'sports', name: 'Sports', tags: [], groups: [] },
];
const tree: Readonly<Record<number, Answer>> = {
  200: jsonAnswer('The tags in their groups.', z.array(appTagGroup), TREE_EXAMPLE, {
    ETag: 'Changes with the tree; one for each coding.',
  }),
  304: { description: 'Unchanged since the ETag of `If-None-Match`.', content: {} },
};
const ifNoneMatch: Parameter = {
  description: 'ETags of answers that the caller has.',
  schema: z.string(),
  example: '"pX0r1Jcx9Ssbo1v6dYkm8g"',
};

export const appOperations = {
  subscribeDevice: {
    summary: 'Subscribe a device to tags',
    description:
      'Subscribes the device to the tags; its other tags stay. Registers the device if it is new.',
    body: { schema: device, example: { ...DEVICE, tagId: [2] } },
    ...changes,
  },
  unsubscribeDevice: {
    summary: 'Unsubscribe a device from tags',
    description:
      'Unsubscribes the device from the tags, or from all of them when neither `tagId` nor `tagSourceId` is there.',
    body: { schema: device, example: { ...DEVICE, tagSourceId: 'breaking-news' } },
    ...changes,
  },
  setDeviceTags: {
    summary: 'Replace all tags of a device',
    description: 'Without tags, or with only unknown ones, the request is ignored.',
    body: { schema: device, example: { ...DEVICE, tagId: 2 } },
    ...changes,
  },
  replaceDevice: {
    summary: 'Move the tags of a device to its new token',
    body: { schema: replaceForm, example: { ...DEVICE, newDeviceId: 'cd'.repeat(32) } },
    answers: {
      200: jsonAnswer(
        'Done; it may be repeated.',
        z.object({ outcome: z.enum(['moved', 'merged', 'unchanged']) }),
        { outcome: 'moved' },
        { 'Tagcast-Ignored': 'Unknown fields, and `tagId` when tags were beyond the limit.' },
      ),
    },
    problems: [400, 404],
  },
  listDeviceTags: {
    summary: 'List the tags of a device',
    description: 'An unknown device has none.',
    body: {
      schema: z.looseObject({ appId: looseId, platformId: looseId, deviceId }),
      example: DEVICE,
    },
    answers: {
      200: jsonAnswer('Its tags, by id.', z.array(appTag), [
        { id: 2, name: 'Breaking news', sourceId: 'breaking-news' },
      ]),
    },
    problems: [400],
  },
  listAppTags: {
    summary: 'List the tags that an app can offer',
    headers: { 'If-None-Match': ifNoneMatch },
    body: {
      schema: z.looseObject({ appId: looseId, platformId: looseId }),
      example: { appId: 1, platformId: 3 },
    },
    answers: tree,
    problems: [400],
  },
  getAppTags: {
    summary: 'The same, in a form that can be cached',
    path: { app: { description: 'The id of the app.', schema: id, example: 1 } },
    headers: { 'If-None-Match': ifNoneMatch },
    answers: tree,
  },
} as const satisfies Operations;
