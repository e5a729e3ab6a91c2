/**
 * What evaluates the templates of tests. A process of it does not keep a test's from ending, and
 * ends with it.
 */

import { pino } from 'pino';
import type { EvaluationLimits } from '../../src/templates/evaluation.ts';
import { EVALUATION_LIMITS, Evaluator } from '../../src/templates/evaluator.ts';

/** However busy the machine of the tests is, what uses up its processor time ends for that. */
export const PATIENT_LIMITS: EvaluationLimits = { ...EVALUATION_LIMITS, wallMs: 120_000 };

export const evaluator = new Evaluator(pino({ level: 'silent' }), PATIENT_LIMITS);
