/** The form of a name that people give to what they save: a test device, a draft. */

import { z } from 'zod';
import { SOURCE_ID_LENGTH_MAX } from '../../domain/tag.ts';
import { isNameText, NAME_FAULT } from '../../std/name-text.ts';

const LENGTH_FAULT = `must be 1–${SOURCE_ID_LENGTH_MAX} characters`;

export const objectName = z
  .string('must be a string')
  .min(1, LENGTH_FAULT)
  .max(SOURCE_ID_LENGTH_MAX, LENGTH_FAULT)
  .refine(isNameText, NAME_FAULT);
