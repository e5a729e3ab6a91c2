/** `?cancelJobs=true`, where a right to submit push jobs is taken away. */

import { z } from 'zod';
import type { QueryParameter } from '../../http/parameters.ts';

const WORDS = ['true', 'false'] as const;

export const cancelJobs: QueryParameter<boolean> = {
  description:
    'Whether what was submitted under it and has not ended is cancelled: scheduled, waiting and running push jobs.',
  schema: z.enum(WORDS),
  example: 'true',
  read: (reader, name) => reader.choice(name, WORDS) === 'true',
};
