/** Goes through the text of an expression from left to right, and keeps its first fault. */

/** Where an expression is wrong, in UTF-16 code units from 0, and a sentence. */
export interface ExpressionFault {
  readonly position: number;
  readonly message: string;
}

const SPACE = /[ \t\r\n]*/y;
const BAD_ESCAPE = 'A backslash must stand before a quotation mark or a backslash.';

export class ExpressionScanner {
  fault: ExpressionFault | null = null;
  at = 0;
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  /** The character that comes next, after blank space. Undefined: none. */
  peek(): string | undefined {
    this.skipSpace();
    return this.text[this.at];
  }

  /** Takes these characters, after blank space. False: others stand here. */
  take(token: string): boolean {
    this.skipSpace();
    if (!this.text.startsWith(token, this.at)) return false;
    this.at += token.length;
    return true;
  }

  skipSpace(): void {
    this.match(SPACE);
  }

  /** `pattern` is sticky. */
  match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found !== null) this.at = pattern.lastIndex;
    return found;
  }

  /** Keeps the first fault, and goes to the end: nothing is left to read. */
  fail(position: number, message: string): null {
    this.fault ??= { position, message };
    this.at = this.text.length;
    return null;
  }

  /** A name in quotation marks, which begin here. Null: it is faulty, or empty. */
  quoted(): string | null {
    const opened = this.at;
    let name = '';
    for (let at = opened + 1; at < this.text.length; at += 1) {
      const character = this.text[at];
      if (character === '"') {
        this.at = at + 1;
        return name === '' ? null : name;
      }
      if (character === '\\') {
        at += 1;
        const escaped = this.text[at];
        if (escaped !== '"' && escaped !== '\\') return this.fail(at - 1, BAD_ESCAPE);
        name += escaped;
      } else name += character;
    }
    return this.fail(opened, 'This quotation mark is never closed.');
  }
}
