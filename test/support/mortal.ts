/** A database whose connection ends in the middle of the work: the node has died. */

import type { SqlPool } from '../../src/database/sql.ts';

const STATEMENT = /^\s*(with|select|update|delete|insert)/;

type Call = (...args: unknown[]) => unknown;

/** The pool, until so many statements were begun: the next one fails. */
export function mortal(sql: SqlPool, statements: number): SqlPool {
  let left = statements;
  const live = <T extends object>(of: T): T =>
    new Proxy(of, {
      apply: (
        target,
        self,
        args: readonly ({ readonly raw?: readonly string[] } | undefined)[],
      ) => {
        // A piece of a statement is a call, too; and so is the name of a table.
        if (STATEMENT.test(args[0]?.raw?.[0] ?? '')) {
          left -= 1;
          if (left < 0) throw new Error('killed');
        }
        return Reflect.apply(target as Call, self, args);
      },
      get: (target, key) => {
        const value = Reflect.get(target, key) as unknown;
        if (key !== 'begin') return value;
        return (work: (tx: object) => unknown) =>
          (value as Call).call(target, (tx: object) => work(live(tx)));
      },
    });
  return live(sql);
}
