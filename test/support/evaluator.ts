/**
 * Evaluates the templates of tests. Its processes do not keep a test from ending, and end with it.
 */

import { pino } from 'pino';
import type { EvaluationLimits } from '../../src/templates/evaluation.ts';
import { EVALUATION_LIMITS, Evaluator } from '../../src/templates/evaluator.ts';

/** However busy the machine of the tests is, what uses up its processor time ends for that. */
export const PATIENT_LIMITS: EvaluationLimits = { ...EVALUATION_LIMITS, wallMs: 120_000 };

export const evaluator = new Evaluator(pino({ level: 'silent' }), PATIENT_LIMITS);
