/** A database on which something happens between two statements of the work. */

import type { SqlPool } from '../../src/database/sql.ts';

type Call = (...args: unknown[]) => unknown;

/** The pool; `happens` ends before the statement of that number that has the text is sent. */
export function interposed(
  sql: SqlPool,
  text: string,
  nth: number,
  happens: () => Promise<unknown>,
): SqlPool {
  let met = 0;
  const watched = <T extends object>(of: T): T =>
    new Proxy(of, {
      apply: (
        target,
        self,
        args: readonly ({ readonly raw?: readonly string[] } | undefined)[],
      ) => {
        const send = () => Reflect.apply(target as Call, self, args);
        if (args[0]?.raw?.join('').includes(text) !== true) return send();
        met += 1;
        return met === nth ? happens().then(send) : send();
      },
      get: (target, key) => {
        const value = Reflect.get(target, key) as unknown;
        if (key !== 'begin') return value;
        return (work: (tx: object) => unknown) =>
          (value as Call).call(target, (tx: object) => work(watched(tx)));
      },
    });
  return watched(sql);
}
