/** What the actions that have no routes of their own yet have in common. */

import { z } from 'zod';
import type { Secrets } from '../access/secrets.ts';
import type { SqlPool } from '../database/sql.ts';
import { ID_MAX } from '../domain/tag.ts';

export interface CredentialParts {
  readonly sql: SqlPool;
  readonly secrets: Secrets;
}

export const slug = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]{0,62}$/,
    'must be 1–63 lowercase letters, digits and hyphens, and not begin with a hyphen',
  );
export const id = z.int('must be an id').min(1, 'must be an id').max(ID_MAX, 'must be an id');
