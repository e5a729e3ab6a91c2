/** Lists that come page by page. */

const NEXT = /<([^>]*)>; *rel="next"/;

/** The cursor of the next page; null: this was the last. */
export function cursorOf(headers: Headers): string | null {
  const next = NEXT.exec(headers.get('link') ?? '')?.[1];
  return next === undefined ? null : new URL(next, location.href).searchParams.get('cursor');
}
