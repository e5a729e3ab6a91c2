/** The connections of a node are counted in one source, and said in one document. */

import t from 'tap';
import {
  CONNECTIONS_DEDICATED,
  CONNECTIONS_PER_NODE,
  CONNECTIONS_PER_WORKER,
} from '../../src/database/connections.ts';
import { DOCUMENTS, readText, SOURCES } from '../support/documents.ts';

t.test('each dedicated connection is counted', (t) => {
  const source = SOURCES.filter((path) => path !== 'src/database/store.ts')
    .map(readText)
    .join('');
  const opened = source.match(/\.openDedicatedConnection\(/g)?.length ?? 0;
  // Registration opens two with one call, for the look and for the commit; so do sends at once.
  t.equal(opened + 2, CONNECTIONS_DEDICATED.length);
  t.end();
});

t.test('the number is in one document', (t) => {
  const said = new RegExp(
    `\\b${CONNECTIONS_PER_NODE}\\b(?= (?:and|\\+) ${CONNECTIONS_PER_WORKER})`,
  );
  t.same(
    DOCUMENTS.filter((path) => said.test(readText(path))),
    ['docs/operate/configure.md'],
  );
  t.end();
});
