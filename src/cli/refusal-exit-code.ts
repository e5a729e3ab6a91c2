/** The exit code of a command whose request was refused. */

import { ProblemError } from '../../packages/client/src/client.ts';
import { EXIT_FAILED, EXIT_USAGE } from './command.ts';

const BAD_REQUEST = 400;

/** Whether a page was the answer: an engine refuses with JSON or a line of text. */
export const isPage = ({ headers }: ProblemError): boolean =>
  headers.get('content-type')?.startsWith('text/html') ?? false;

/** A request that the engine calls wrong was made of wrong arguments. */
export const refusalExitCode = (error: unknown): number =>
  error instanceof ProblemError && error.status === BAD_REQUEST && !isPage(error)
    ? EXIT_USAGE
    : EXIT_FAILED;
