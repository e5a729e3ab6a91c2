/** Rows as parameters: what a statement sees of them, on both stores. */

import t from 'tap';
import {
  bigint,
  boolean,
  float8,
  integer,
  integers,
  json,
  rowsOf,
  smallint,
  text,
  uuid,
} from '../../src/database/rows.ts';
import type { Sql } from '../../src/database/sql.ts';
import { withStores } from '../support/store.ts';

interface Given {
  readonly whole: number | null;
  readonly mask: bigint | null;
  readonly ms: number | null;
  readonly agrees: boolean | null;
  readonly id: string | null;
  readonly words: string | null;
  readonly about: object | null;
  readonly numbers: readonly number[] | null;
}

const FULL: Given = {
  whole: -7,
  mask: -(2n ** 63n),
  ms: 1_700_000_000_123.5,
  agrees: true,
  id: '0c9d2b1e-7d5d-4f5e-9f6a-3a1f0e2b4c5d',
  words: 'a "quoted", {braced} \\ NULL line\nand ü',
  about: { 'a"b': ['\\', null, { c: 1.5 }] },
  numbers: [3, 1, 2],
};
const EMPTY: Given = { ...FULL, agrees: false, words: '', about: {}, numbers: [] };
const NONE: Given = {
  whole: null,
  mask: null,
  ms: null,
  agrees: null,
  id: null,
  words: null,
  about: null,
  numbers: null,
};

const given = rowsOf<Given>('given', {
  place: integer((_, index) => index),
  small: smallint(({ whole }) => whole),
  whole: integer(({ whole }) => whole),
  mask: bigint(({ mask }) => mask),
  ms: float8(({ ms }) => ms),
  agrees: boolean(({ agrees }) => agrees),
  id: uuid(({ id }) => id),
  words: text(({ words }) => words),
  about: json(({ about }) => about),
  numbers: integers(({ numbers }) => numbers),
});

const read = (sql: Sql, values: readonly Given[]) => sql`
  select place, small, whole, mask::text, ms, agrees, id, words, about, numbers
  from ${given(sql, values)} order by place`;

const expected = ({ whole, mask, ...rest }: Given, place: number) => ({
  place,
  small: whole,
  whole,
  mask: mask === null ? null : String(mask),
  ...rest,
});

t.test('every value comes as it was given', async (t) => {
  await withStores(t, async (t, { sql }) => {
    const values = [FULL, NONE, EMPTY];
    t.strictSame([...(await read(sql, values))], values.map(expected));
    t.strictSame([...(await read(sql, []))], []);
  });
});

t.test('columns are of the types that they say', async (t) => {
  await withStores(t, async (t, { sql }) => {
    const typed = rowsOf('typed', {
      a: integer(() => 1),
      b: smallint(() => 1),
      c: bigint(() => 1),
      d: float8(() => 1),
      e: boolean(() => true),
      f: text(() => 'x'),
      g: json(() => ({})),
      h: integers(() => [1]),
    });
    t.strictSame(
      [
        ...(await sql`
          select pg_typeof(a)::text as a, pg_typeof(b)::text as b, pg_typeof(c)::text as c,
            pg_typeof(d)::text as d, pg_typeof(e)::text as e, pg_typeof(f)::text as f,
            pg_typeof(g)::text as g, pg_typeof(h)::text as h
          from ${typed(sql, [null])}`),
      ],
      [
        {
          a: 'integer',
          b: 'smallint',
          c: 'bigint',
          d: 'double precision',
          e: 'boolean',
          f: 'text',
          g: 'json',
          h: 'integer[]',
        },
      ],
    );
  });
});

t.test('a statement is prepared once, however many rows it has', async (t) => {
  await withStores(t, async (t, { sql }) => {
    await sql.begin(async (tx) => {
      for (const values of [[], [FULL], [FULL, NONE, EMPTY]]) await read(tx, values);
      const prepared = await tx`
        select statement from pg_prepared_statements where statement like ${'%as given%'}`;
      t.equal(prepared.length, 1);
    });
  });
});
