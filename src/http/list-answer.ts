/**
 * A list: one page, which names the next one in `Link`, or all of it. The cursor is the key of the
 * page's last row, so rows that come and go shift no others.
 */

import type { HttpRequest, HttpResponse } from './handler.ts';
import { json } from './json-body.ts';
import { PAGE_ROWS_MAX } from './query-reader.ts';
import type { Done, Refusal } from './result.ts';
import { answerRefusal, done } from './result.ts';

type Key = string | readonly number[];

interface List<Row, After extends Key | null> {
  /** The first rows after the key, in its order; or why they cannot be read now. */
  read(after: After, limit: number): Promise<readonly Row[] | Refusal>;
  keyOf(row: Row): After & Key;
  show(row: Row): unknown;
}

/** The rows of a list, which become an answer when it is known how to show one. */
export type Rows<Row> = (
  request: HttpRequest,
  show: (row: Row) => unknown,
) => Promise<HttpResponse>;

/** The page of a list that a query asks for; without a limit all of it. */
export const rowsOf = <Row, After extends Key | null>(
  { limit, cursor }: { readonly limit: number | null; readonly cursor: After },
  list: Omit<List<Row, After>, 'show'>,
): Done<Rows<Row>> =>
  done((request, show) =>
    limit === null
      ? answerAll(request, cursor, { ...list, show })
      : answerPage(request, cursor, limit, { ...list, show }),
  );

async function answerPage<Row, After extends Key | null>(
  request: HttpRequest,
  after: After,
  limit: number,
  list: List<Row, After>,
): Promise<HttpResponse> {
  // One more than the page has, to know whether there is a next page.
  const rows = await list.read(after, limit + 1);
  if ('ok' in rows) return answerRefusal(request, rows);
  const told = rows.slice(0, limit);
  const answer = json(told.map((row) => list.show(row)));
  const last = told.at(-1);
  if (rows.length === told.length || last === undefined) return answer;
  const next = new URLSearchParams(request.query);
  next.set('cursor', cursorOf(list.keyOf(last)));
  return {
    ...answer,
    headers: { ...answer.headers, Link: `<${request.path}?${next.toString()}>; rel="next"` },
  };
}

const cursorOf = (key: Key): string => (typeof key === 'string' ? key : key.join('.'));

/** In pieces, so that a long list takes many short turns of the event loop. */
async function answerAll<Row, After extends Key | null>(
  request: HttpRequest,
  first: After,
  list: List<Row, After>,
): Promise<HttpResponse> {
  const pieces: string[] = [];
  let after = first;
  for (let isMore = true; isMore; ) {
    const rows: readonly Row[] | Refusal = await list.read(after, PAGE_ROWS_MAX);
    if ('ok' in rows) return answerRefusal(request, rows);
    const piece = rows.map((row) => JSON.stringify(list.show(row))).join(',');
    if (piece !== '') pieces.push(piece);
    const last = rows.at(-1);
    isMore = last !== undefined && rows.length === PAGE_ROWS_MAX;
    if (last !== undefined) after = list.keyOf(last);
  }
  return {
    status: 200,
    headers: { 'Content-Type': 'application/json' },
    body: `[${pieces.join(',')}]`,
  };
}
