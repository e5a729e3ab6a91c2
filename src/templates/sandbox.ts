/**
 * Evaluates the templates of one push, in a context made for it and thrown away: texts go in, a
 * text comes out. So nothing reaches the next push, or the process (decision 59).
 */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createContext, Script } from 'node:vm';
import { foreignText } from '../../packages/std/src/foreign-text.ts';
import { isObject } from '../../packages/std/src/json.ts';
import type { TemplateFault } from '../domain/template.ts';
import { TEMPLATED_LENGTH_MAX } from '../domain/template.ts';

export type Evaluated =
  /** `json`: the result of the template. For one that was only checked: an empty text. */
  | { readonly kind: 'made'; readonly json: string }
  | { readonly kind: 'failed'; readonly fault: TemplateFault }
  /** The processor time was used up, or too little of it came in time. The rest is left. */
  | { readonly kind: 'too-long' | 'held-up' };

/** The script was ended, by a signal or by its time on the wall. */
interface Stopped {
  readonly kind: 'stopped';
}

/**
 * Bounds a message of the library, which may quote values of the payload.
 * @limit a message of a template's failure → cut
 */
const MESSAGE_LENGTH_MAX = 300;

const LIBRARY = new Script(
  readFileSync(createRequire(import.meta.url).resolve('jsonata/jsonata.min.js'), 'utf8'),
  { filename: 'jsonata.js' },
);

/** In the context: reads `expression`, `input` and `lengthMax`, and writes `output` or `fault`. */
const RUN = new Script(
  `(() => {
    output = fault = undefined;
    const fail = (error) => {
      const { code, position, token, message } = error ?? {};
      fault = JSON.stringify({ code, position, token, message: String(message) });
    };
    const absent = (name) => () => {
      throw { message: '$' + name + ' is not available in templates' };
    };
    try {
      const template = jsonata(expression);
      for (const name of ['base64encode', 'base64decode']) {
        template.registerFunction(name, absent(name));
      }
      if (input === null) {
        output = '';
        return;
      }
      template.evaluate(JSON.parse(input)).then((made) => {
        let json;
        try {
          json = JSON.stringify(made);
        } catch {
          throw { message: 'It makes something that JSON has no words for, such as a function' };
        }
        if (json === undefined) throw { message: 'It makes nothing of this payload' };
        if (json.length > lengthMax) {
          throw { message: 'It makes ' + json.length + ' characters of JSON; the limit is ' + lengthMax };
        }
        output = json;
      }).catch(fail);
    } catch (error) {
      fail(error);
    }
  })()`,
  { filename: 'template.js' },
);

const FULL_STOP = /\.$/;

interface Failure {
  readonly code?: string;
  /** The position after the token. */
  readonly position?: number;
  readonly token?: unknown;
  readonly message: string;
}

export class Sandbox {
  /** It has no prototype: the one of this realm would lead out of the context. */
  readonly #shared: Record<string, unknown> = Object.create(null);
  readonly #context: object;

  /** `input`: the payload as JSON. Null: templates are only checked. */
  constructor(input: string | null) {
    this.#shared['input'] = input;
    this.#shared['lengthMax'] = TEMPLATED_LENGTH_MAX;
    // Awaited promises run before a script returns, so their time counts.
    this.#context = createContext(this.#shared, {
      microtaskMode: 'afterEvaluate',
      codeGeneration: { strings: false, wasm: false },
    });
    LIBRARY.runInContext(this.#context);
  }

  /** Ended after so long, and by the signal SIGINT. */
  evaluate(expression: string, msMax: number): Evaluated | Stopped {
    this.#shared['expression'] = expression;
    try {
      const timeout = Math.max(1, Math.ceil(msMax));
      RUN.runInContext(this.#context, { timeout, breakOnSigint: true });
    } catch (error) {
      if (isStopped(error)) return { kind: 'stopped' };
      throw error;
    }
    const { output, fault } = this.#shared;
    if (typeof output === 'string') return { kind: 'made', json: output };
    // Neither: it waits for something that never comes.
    if (typeof fault !== 'string') return { kind: 'too-long' };
    return { kind: 'failed', fault: faultOf(JSON.parse(fault) as Failure, expression) };
  }
}

/** The error is one of the context's realm: it is no instance of our `Error`. */
const isStopped = (error: unknown): boolean =>
  isObject(error) && STOPPED.has(String(error['code']));
const STOPPED: ReadonlySet<string> = new Set([
  'ERR_SCRIPT_EXECUTION_TIMEOUT',
  'ERR_SCRIPT_EXECUTION_INTERRUPTED',
]);

function faultOf({ code, position, token, message }: Failure, expression: string): TemplateFault {
  const sentence = foreignText(message, MESSAGE_LENGTH_MAX).replace(FULL_STOP, '');
  const why = code === undefined ? `${sentence}.` : `${sentence} (${code}).`;
  if (typeof position !== 'number') return { why };
  return { why, position: beginOf(token, position, expression) };
}

/** Finds the beginning of a token: the library names its end, or a place after it. */
function beginOf(token: unknown, end: number, expression: string): number {
  const begin = typeof token === 'string' ? expression.lastIndexOf(token, end - token.length) : -1;
  return Math.min(begin === -1 ? end : begin, expression.length);
}
