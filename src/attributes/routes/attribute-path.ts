/** An attribute in a path, by its name. */

import { z } from 'zod';
import { ATTRIBUTE_NAME } from '../../domain/attributes.ts';
import type { PathParameter } from '../../http/parameters.ts';
import { refused } from '../../http/result.ts';

export const ATTRIBUTES_PATH = '/push-admin-api/v3/:client/attributes';

export const NO_ATTRIBUTE = refused(404, 'This client has no attribute of this name.');

export const attributeName: PathParameter<string> = {
  description: 'The name of the attribute.',
  schema: z.string(),
  example: 'plan',
  read: (text) => (ATTRIBUTE_NAME.test(text) ? text : null),
  unknown: NO_ATTRIBUTE,
};
