/** Whether a caller has an answer already. */

const WEAK = /^W\//;

/** RFC 9110, section 13.1.2: a list of tags or `*`, compared weakly. */
export const matchesEntityTag = (ifNoneMatch: string, etag: string): boolean =>
  ifNoneMatch
    .split(',')
    .map((entry) => entry.trim().replace(WEAK, ''))
    .some((entry) => entry === '*' || entry === etag);
