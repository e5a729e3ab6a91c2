/** Lists that come page by page, and filters by days. */

const NEXT = /<([^>]*)>; *rel="next"/;

/** The cursor of the next page; null: this was the last. */
export function cursorOf(headers: Headers): string | null {
  const next = NEXT.exec(headers.get('link') ?? '')?.[1];
  return next === undefined ? null : new URL(next, location.href).searchParams.get('cursor');
}

/** When a day of the viewer begins, or the one after so many days. */
export function startOfDay(date: string | null, days: number): number | null {
  if (date === null) return null;
  const start = new Date(`${date}T00:00`);
  start.setDate(start.getDate() + days);
  return Number.isNaN(start.getTime()) ? null : start.getTime();
}
