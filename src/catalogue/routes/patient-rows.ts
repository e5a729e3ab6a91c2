/** Lists that may be long: all of one is read in one turn of the patient reads. */

import type { PatientReads } from '../../database/patient-reads.ts';
import type { Sql } from '../../database/sql.ts';
import type { Rows } from '../../http/list-answer.ts';
import type { Done, Result } from '../../http/result.ts';
import { answerRefusal, done, refuse } from '../../http/result.ts';

export const patientRows = <Row>(
  patientReads: PatientReads,
  clientId: number,
  rowsBy: (sql: Sql) => Done<Rows<Row>>,
): Result<Rows<Row>> =>
  done(async (request, show) => {
    const read = await patientReads.run(clientId, (sql) => rowsBy(sql).value(request, show));
    return read.kind === 'busy' ? answerRefusal(request, refuse.tooMuchCounted) : read.result;
  });
