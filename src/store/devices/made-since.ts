/** Tells a device that came in between from all other failures: whoever looked for it looks again, in a new transaction. */

const UNIQUE_VIOLATION = '23505';
/** In the name of the constraint of the devices' keys, of each partition's and shard's, too; not in that of the primary key. */
const OF_KEYS = /device_key/;

/** Whether a statement failed because another transaction has made such a device since this one looked for it. */
export const wasMadeSince = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  error.code === UNIQUE_VIOLATION &&
  'constraint_name' in error &&
  OF_KEYS.test(String(error.constraint_name));
