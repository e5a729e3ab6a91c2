/**
 * A list: one page, which names the next one in `Link`, or without a limit all of it. The cursor is
 * the key of the last row that was told, so rows that come and go between two pages take no other
 * row from the caller, and show none twice.
 */

import type { HttpRequest, HttpResponse } from './handler.ts';
import { json } from './json-body.ts';
import { PAGE_ROWS_MAX } from './query-reader.ts';

export interface List<Row> {
  /** The first rows behind the key, in its order. */
  read(after: readonly number[], limit: number): Promise<readonly Row[]>;
  keyOf(row: Row): readonly number[];
  show(row: Row): unknown;
}

export interface Page {
  /** Null: all. */
  readonly limit: number | null;
  readonly after: readonly number[];
}

/** Answers the page of the list that was asked for. */
export const answerList = <Row>(
  request: HttpRequest,
  page: Page,
  list: List<Row>,
): Promise<HttpResponse> =>
  page.limit === null
    ? answerAll(page.after, list)
    : answerPage(request, page.after, page.limit, list);

async function answerPage<Row>(
  request: HttpRequest,
  after: readonly number[],
  limit: number,
  list: List<Row>,
): Promise<HttpResponse> {
  // One more than is told, to know whether there is a next page.
  const rows = await list.read(after, limit + 1);
  const told = rows.slice(0, limit);
  const answer = json(told.map((row) => list.show(row)));
  const last = told.at(-1);
  if (rows.length === told.length || last === undefined) return answer;
  const next = request.query;
  next.set('cursor', list.keyOf(last).join('.'));
  return {
    ...answer,
    headers: { ...answer.headers, Link: `<${request.path}?${next.toString()}>; rel="next"` },
  };
}

/** In pieces, so that a long list takes many short turns of the event loop. */
async function answerAll<Row>(after: readonly number[], list: List<Row>): Promise<HttpResponse> {
  const pieces: string[] = [];
  for (let key: readonly number[] | null = after; key !== null; ) {
    const rows: readonly Row[] = await list.read(key, PAGE_ROWS_MAX);
    const piece = rows.map((row) => JSON.stringify(list.show(row))).join(',');
    if (piece !== '') pieces.push(piece);
    const last = rows.at(-1);
    key = last === undefined || rows.length < PAGE_ROWS_MAX ? null : list.keyOf(last);
  }
  return {
    status: 200,
    headers: { 'Content-Type': 'application/json' },
    body: `[${pieces.join(',')}]`,
  };
}
