/** Divides what is written together into short statements, however many apps a client has. */

/**
 * On the embedded database, one session, a tenth of a second in which nothing else is served.
 * @limit (app, platform)s of pushes that one statement writes → the next statement; a single push
 * may exceed it, alone
 */
export const SCOPES_WRITTEN_MAX = 1_000;

interface Weighed {
  readonly notification: { readonly scopes: readonly unknown[] };
}

/** The same, in order. */
export function inPieces<T extends Weighed>(written: readonly T[]): readonly (readonly T[])[] {
  const pieces: T[][] = [];
  let room = 0;
  for (const one of written) {
    const { length } = one.notification.scopes;
    const piece = pieces.at(-1);
    if (piece === undefined || length > room) {
      pieces.push([one]);
      room = SCOPES_WRITTEN_MAX - length;
    } else {
      piece.push(one);
      room -= length;
    }
  }
  return pieces;
}
