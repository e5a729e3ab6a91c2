/** Describes errors of PGlite, which also throws plain objects with a number for a code. */

/** Numbers that Emscripten gives to the codes of the system, for what may befall a database. */
const CODES: Readonly<Record<number, string>> = {
  2: 'EACCES',
  19: 'EDQUOT',
  22: 'EFBIG',
  29: 'EIO',
  33: 'EMFILE',
  41: 'ENFILE',
  48: 'ENOMEM',
  51: 'ENOSPC',
  69: 'EROFS',
};

/** The system's code of what was thrown; empty: it has none. */
export function thrownCode(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null) return '';
  if ('code' in thrown && typeof thrown.code === 'string') return thrown.code;
  return 'errno' in thrown ? (CODES[Number(thrown.errno)] ?? '') : '';
}

/** The thrown value, in words. */
export function thrownText(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  const code = thrownCode(thrown);
  return code === '' ? JSON.stringify(thrown) : code;
}
