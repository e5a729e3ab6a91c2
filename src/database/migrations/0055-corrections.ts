/** Corrections and retractions of push jobs: to whom a job has reached (decision 77). */

export const name = '0055-corrections';

export const sql = `
-- What a job does to the one that retries names: correct, retract. Null: it retries it, or there is none.
alter table notifications add column correction text;
-- The parts of this correction wait until the job has ended. Null: none waits.
alter table notifications add column awaited_by uuid;
-- The correction that goes to the devices which this cancelled job is not sent to. Null: none.
alter table notifications add column rest_to uuid;

-- Words (push/worker/chunk/reach.ts): devices that the correction goes to, beside those that were reached. Null: none.
alter table chunks add column rest_words bytea;
`;
