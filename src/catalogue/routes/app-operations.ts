/** What the OpenAPI document says of apps, as existing clients call them and as resources. */

import { z } from 'zod';
import type { Operation, Operations } from '../../http/openapi/operation.ts';
import {
  id,
  jsonAnswer,
  LINK,
  noContent,
  PAGE,
  pathId,
  platformId,
} from '../../http/openapi/parts.ts';
import { addAppForm, appPatchForm, deleteAppForm, newAppForm, updateAppForm } from './app-forms.ts';

const app = z
  .object({ id, name: z.string(), platformIds: z.array(platformId) })
  .meta({ id: 'App' });
const apiUser = z
  .object({ userName: z.string(), password: z.string(), token: z.string() })
  .meta({ description: 'The credential for the App API. It is told this once.' });

const publishedApp = z
  .object({
    id,
    name: z.string(),
    platformId,
    parameters: z.record(z.string(), z.unknown()).meta({ description: 'As they were given.' }),
    apiUser: z
      .object({ accessToken: z.string() })
      .optional()
      .meta({ description: 'For the super user only.' }),
  })
  .meta({ id: 'PublishedApp', description: 'An app on one of its platforms.' });

const APP = { id: 1, name: 'Demo', platformIds: [3, 15] };
const PUBLISHED = {
  id: 1,
  name: 'Demo',
  platformId: 3,
  parameters: {},
  apiUser: { accessToken: 'tca_…' },
};
const path = { id: pathId('app', 1) };

/** The way of existing clients. */
const published = (
  summary: string,
  schema: z.ZodType,
  example: unknown,
): Pick<Operation, 'summary' | 'body' | 'problems'> => ({
  summary,
  body: { schema, example, isAlsoMultipart: true },
  problems: [400, 404],
});

export const appResourceOperations = {
  getPublishedApps: {
    summary: 'All apps, one row for each platform',
    answers: { 200: jsonAnswer('The rows.', z.array(publishedApp), [PUBLISHED]) },
  },
  addPublishedApp: {
    ...published('Make an app on one platform', addAppForm, { name: 'News', platformId: 3 }),
    description: '`tags` are connected to it.',
    answers: { 200: jsonAnswer('Made.', publishedApp, PUBLISHED) },
  },
  updatePublishedApp: {
    ...published('Change an app', updateAppForm, { id: 1, platformId: 3, name: 'Demo' }),
    description:
      'What is absent stays. `tags` are connected to it; none is disconnected. 409: its devices have not lost yet what they had of a tag that was disconnected.',
    problems: [400, 404, 409],
    answers: { 200: jsonAnswer('Changed.', publishedApp, PUBLISHED) },
  },
  deletePublishedApp: {
    ...published('Delete an app with all its data', deleteAppForm, { id: 1 }),
    description: 'Its data goes in the background: `removals` tells how far that is.',
    answers: { 200: jsonAnswer('Deleted.', z.object({ id }), { id: 1 }) },
  },
  listApps: {
    summary: 'List apps, by id',
    query: {
      ...PAGE,
      q: { description: 'With this text in the name.', schema: z.string(), example: 'news' },
      platformId: { description: 'On this platform.', schema: platformId, example: 3 },
    },
    answers: { 200: jsonAnswer('The apps.', z.array(app), [APP], LINK) },
    problems: [400],
  },
  createApp: {
    summary: 'Make an app',
    body: { schema: newAppForm, example: { name: 'News', platformIds: [3, 15] } },
    answers: {
      201: jsonAnswer('Made, with its API user.', app.extend({ apiUser }), {
        id: 13,
        name: 'News',
        platformIds: [3, 15],
        apiUser: { userName: 'demo-app-13-4h1p9sxw', password: '…', token: 'tca_…' },
      }),
    },
    problems: [400],
  },
  getApp: {
    summary: 'One app',
    path,
    answers: { 200: jsonAnswer('The app.', app, APP) },
    problems: [404],
  },
  changeApp: {
    summary: 'Rename an app, or put it on further platforms',
    path,
    body: { schema: appPatchForm, example: { name: 'Demo' } },
    answers: { 200: jsonAnswer('Changed.', app, APP) },
    problems: [400, 404],
  },
  deleteApp: {
    summary: 'Delete an app with all its data',
    description: 'Its data goes in the background: `removals` tells how far that is.',
    path,
    answers: { 204: noContent('Deleted.') },
    problems: [404],
  },
} as const satisfies Operations;
