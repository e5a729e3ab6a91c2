/** What the OpenAPI document says of the template of an app on a platform. */

import { z } from 'zod';
import { TEMPLATE_LENGTH_MAX } from '../../domain/template.ts';
import type { Operations } from '../../http/openapi/operation.ts';
import {
  count,
  epochMs,
  jsonAnswer,
  noContent,
  pathId,
  platformId,
} from '../../http/openapi/parts.ts';
import { templateForm } from './app-templates.ts';

const template = z.object({
  platformId,
  hasTemplate: z.boolean(),
  expression: z.string().optional().meta({ description: 'JSONata.' }),
  updatedAt: epochMs.optional(),
});
const tried = template.extend({
  trial: z
    .object({
      provider: z.string(),
      sizeBytes: count,
      sizeBytesMax: count,
      message: z.unknown().meta({ description: 'What the provider would get.' }),
      languages: z
        .array(z.object({ tagSourceId: z.string(), sizeBytes: count, message: z.unknown() }))
        .optional(),
    })
    .optional()
    .meta({ description: 'What it makes of the sample.' }),
});

const path = {
  id: pathId('app', 1),
  platform: { ...pathId('platform', 3), schema: platformId },
};
const EXPRESSION = '{ "title": home & " – " & away, "message": $string(score) }';
const KNOWN = {
  platformId: 3,
  hasTemplate: true,
  expression: EXPRESSION,
  updatedAt: 1_795_392_000_000,
};

export const appTemplateOperations = {
  getTemplate: {
    summary: 'The template of an app on a platform',
    path,
    answers: { 200: jsonAnswer('What is there.', template, KNOWN) },
    problems: [404],
  },
  putTemplate: {
    summary: 'Put a template, and try it out',
    description:
      'From then on it turns the payload of each new push into what this app gets on this platform. Nothing is stored if the expression is faulty or fails on the sample.',
    path,
    body: {
      schema: templateForm.extend({
        expression: z.string().min(1).max(TEMPLATE_LENGTH_MAX),
        sample: z
          .unknown()
          .optional()
          .meta({ description: 'A payload as pushes will bring it, to try the template out.' }),
      }),
      example: { expression: EXPRESSION, sample: { home: 'FCB', away: 'BVB', score: '1:0' } },
    },
    answers: { 200: jsonAnswer('Stored.', tried, KNOWN) },
    problems: [400, 404],
  },
  deleteTemplate: {
    summary: 'Delete a template',
    path,
    answers: { 204: noContent('Deleted.') },
    problems: [404],
  },
} as const satisfies Operations;
