/** A journal of push jobs that is not read. */

import { pino } from 'pino';
import { JobJournal } from '../../src/telemetry/job-journal.ts';

export const SILENT_JOURNAL = new JobJournal(pino({ level: 'silent' }));
