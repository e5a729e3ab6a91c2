/** Tells a device that came in between from all other failures: whoever looked for it looks again, in a new transaction. */

const UNIQUE_VIOLATION = '23505';
/** As PostgreSQL names `unique (device_key, app_id, platform_id)` of the table. */
const CONSTRAINT = 'devices_device_key_app_id_platform_id_key';

/** Whether a statement failed because another transaction has made such a device since this one looked for it. */
export const wasMadeSince = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  error.code === UNIQUE_VIOLATION &&
  'constraint_name' in error &&
  error.constraint_name === CONSTRAINT;
