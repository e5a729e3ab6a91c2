/** Writes tables as CSV (RFC 4180) that spreadsheets open as text, never as formulas. */

export type Cell = string | number;

/** Without this mark spreadsheets read no UTF-8. */
const BYTE_ORDER_MARK = '\ufeff';
const LINE_END = '\r\n';
const NEEDS_QUOTES = /[",\r\n]/;
/** A spreadsheet would compute what begins so: a title may be anybody's text. */
const IS_FORMULA = /^[=+\-@\t\r]/;

export const csvOf = (rows: readonly (readonly Cell[])[]): string =>
  BYTE_ORDER_MARK + rows.map((row) => row.map(written).join(',') + LINE_END).join('');

function written(cell: Cell): string {
  if (typeof cell === 'number') return String(cell);
  const text = IS_FORMULA.test(cell) ? `'${cell}` : cell;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
