/** Describes a failure for the page: a sentence, the fields that are wrong, the request. */

import { ProblemError } from '../../../packages/client/src/client.ts';
import { faultTexts } from '../texts/faults.ts';

export interface Fault {
  /** 0: there was no answer. */
  readonly status: number;
  readonly sentence: string;
  /** The faults, by the path of the field in the request. */
  readonly fields: Readonly<Record<string, string>>;
  /** Where in the text of a field, in UTF-16 code units from 0, by the same path. */
  readonly positions?: Readonly<Record<string, number>>;
  /** To be named to an operator; '' without one. */
  readonly requestId: string;
}

/** A failure that the page describes in its own words. */
export class DescribedError extends Error {
  readonly sentence: string;

  constructor(sentence: string, options: ErrorOptions) {
    super(sentence, options);
    this.sentence = sentence;
  }
}

/** Makes a fault of any error. A programming error is a surprise and thrown on. */
export function faultOf(error: unknown): Fault {
  if (error instanceof ProblemError) {
    const { status, detail, errors = [], requestId } = error.problem;
    const fields = Object.fromEntries(errors.map(({ path, message }) => [path, message]));
    const places = errors.flatMap(({ path, position }) =>
      position === undefined ? [] : [[path, position] as const],
    );
    const positions = Object.fromEntries(places);
    return { status, sentence: detail || faultTexts.unsaid(status), fields, positions, requestId };
  }
  if (error instanceof DescribedError) return ownFault(error.sentence);
  const isTimeout = error instanceof DOMException && error.name === 'TimeoutError';
  // `fetch` rejects with a TypeError when there is no answer.
  if (!isTimeout && !(error instanceof TypeError)) throw error;
  return ownFault(navigator.onLine ? faultTexts.noAnswer : faultTexts.offline);
}

/** A fault that the page has found by itself. */
export const ownFault = (sentence: string): Fault => ({
  status: 0,
  sentence,
  fields: {},
  requestId: '',
});

/** Whether a request was given up by the page itself, which is no fault. */
export const isAbort = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'AbortError';
