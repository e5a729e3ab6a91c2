/** Lets one call at a time do its work, in their order: a thread has few connections. */
export function inTurn<Asked, Answer>(
  work: (asked: Asked) => Promise<Answer>,
): (asked: Asked) => Promise<Answer> {
  let last: Promise<unknown> = Promise.resolve();
  return (asked) => {
    const next = last.then(() => work(asked));
    last = next.catch(() => undefined);
    return next;
  };
}
