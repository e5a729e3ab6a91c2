/** Texts of strangers for a terminal, which obeys control characters. */

/** Control characters, line separators and direction marks; not tab and line feed. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROLS_OF_A_FIELD = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

const escaped = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** The text with each control character as its escape, such as `\u001b`; lines and tabs stay. */
export const visibleText = (text: string): string => text.replace(CONTROLS, escaped);

/** Text that stands within a line: tabs and line feeds are escaped too, so it forges neither. */
export const visibleField = (text: string): string => text.replace(CONTROLS_OF_A_FIELD, escaped);

/** A line of a table: fields that cannot forge another one, with tabs between them. */
export const tableRow = (...fields: readonly (string | number)[]): string =>
  fields.map((field) => visibleField(String(field))).join('\t');

/** Whether a terminal would obey something in the text. */
export const hasControls = (text: string): boolean => text.search(CONTROLS_OF_A_FIELD) !== -1;
