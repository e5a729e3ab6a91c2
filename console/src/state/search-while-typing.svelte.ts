/** The search of a field with offers: a moment after the last letter, and only the latest one. */

/** Between two letters of somebody who types. */
const PAUSE_MS = 150;

/**
 * Call it while a component is made. `typed`: the text to search for, read reactively; null: the
 * offers are closed. `search` hears by the signal that another text has taken its place.
 */
export function searchWhileTyping(
  typed: () => string | null,
  search: (q: string, signal: AbortSignal) => Promise<void>,
): void {
  $effect(() => {
    const text = typed();
    if (text === null) return;
    const q = text.trim();
    const under = new AbortController();
    const timer = setTimeout(() => void search(q, under.signal), q === '' ? 0 : PAUSE_MS);
    return () => {
      clearTimeout(timer);
      under.abort();
    };
  });
}
