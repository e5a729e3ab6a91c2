/** Fields that forms of apps share (internals/interface.md, "Admin API"). */

import { z } from 'zod';
import { asObject, isObject } from '../../../packages/std/src/json.ts';
import { PLATFORM_CHOICE } from '../../../packages/std/src/platforms.ts';
import { isPlatformId } from '../../domain/device.ts';
import { TAGS_PER_REQUEST_MAX } from '../../domain/tag.ts';
import { id } from '../../http/id-form.ts';
import { isNestedWithin } from '../../std/nesting.ts';
import { measured, strictForm } from '../../std/strict-form.ts';
import { sourceId } from './tag-forms.ts';

export const PLATFORM_FAULT = `must be ${PLATFORM_CHOICE}`;
export const platformIdForm = id.refine(isPlatformId, PLATFORM_FAULT);

/**
 * Templates and keys of connectors are some KiB; the list of apps holds those of all.
 * @limit `parameters` of an app on a platform, as JSON → `400`
 */
const PARAMETERS_BYTES_MAX = 16_384;
/**
 * Databases read nested values by recursion.
 * @limit nesting of the `parameters` of an app on a platform → `400`
 */
const PARAMETERS_DEPTH_MAX = 32;

export const parameters = z
  .preprocess(asObject, z.custom<Readonly<Record<string, unknown>>>(isObject, 'must be an object'))
  // First: what is nested too deeply cannot be written as JSON again.
  .refine((value) => isNestedWithin(value, PARAMETERS_DEPTH_MAX), {
    error: `must have ${PARAMETERS_DEPTH_MAX} levels at most`,
    abort: true,
  })
  .refine(
    (value) => Buffer.byteLength(JSON.stringify(value)) <= PARAMETERS_BYTES_MAX,
    `must have ${PARAMETERS_BYTES_MAX} bytes of JSON at most`,
  )
  .meta({
    type: 'object',
    description:
      'Kept, and returned as they were given: nothing reads them. At most 16 KiB of JSON, 32 levels deep. A number whose digits would change is `400`. An empty list counts as an empty object.',
  });

export const tags = measured(
  TAGS_PER_REQUEST_MAX,
  z
    .array(
      strictForm({ id: id.optional(), sourceId: sourceId.optional() }).refine(
        (tag) => tag.id !== undefined || tag.sourceId !== undefined,
        'needs an id or a sourceId',
      ),
      'must be an array of tags',
    )
    .max(TAGS_PER_REQUEST_MAX),
).default([]);
