/** Checks which front would serve callers here, and why. */

import { errorReason } from '../../packages/std/src/error-reason.ts';
import type { HTTP_FRONTS } from '../http/choose-front.ts';
import { chooseFront, frontInWords } from '../http/choose-front.ts';
import type { Finding } from './finding.ts';
import { findingsAbout } from './finding.ts';

export async function checkFront(setting: (typeof HTTP_FRONTS)[number]): Promise<Finding> {
  const { ok, problem } = findingsAbout('front');
  try {
    return ok(frontInWords(await chooseFront(setting)));
  } catch (error) {
    return problem(errorReason(error));
  }
}
