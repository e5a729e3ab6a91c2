/** The schema of a new database: schema.sql, and its name among the migrations. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Later migrations have names that sort after it. */
export const SCHEMA = '0040-schema';

/** The migration after which a database is as schema.sql makes one. */
export const LAST_BEFORE_SCHEMA = '0039-clock-watch';

/** Read from the sources, three folders above the compiled file: the compiler copies no SQL. */
export const readSchema = (): Promise<string> =>
  readFile(join(import.meta.dirname, '..', '..', '..', 'src', 'database', 'schema.sql'), 'utf8');
