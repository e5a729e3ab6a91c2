/**
 * What evaluates the templates of tests. A process of it does not keep a test's from ending, and
 * ends with it.
 */

import { pino } from 'pino';
import { Evaluator } from '../../src/templates/evaluator.ts';

export const evaluator = new Evaluator(pino({ level: 'silent' }));
