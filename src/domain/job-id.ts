/** The ids of push jobs. */

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The id as the database has it; null: this names no job. */
export function readJobId(text: string): string | null {
  const id = text.toLowerCase();
  return UUID.test(id) ? id : null;
}
