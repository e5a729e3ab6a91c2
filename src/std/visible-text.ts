/** Texts of strangers for a terminal, which obeys control characters. */

/** All but tab and line feed; and those that change the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** The text with each control character as its escape, such as `\u001b`. */
export const visibleText = (text: string): string =>
  text.replace(
    CONTROLS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
