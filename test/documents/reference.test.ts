/** The generated documents are what `npm run docs` writes. */

import t from 'tap';
import { readText } from '../support/documents.ts';
import { REFERENCE } from '../support/reference/reference.ts';

for (const [path, textOf] of Object.entries(REFERENCE)) {
  t.test(`${path} is up to date`, async (t) => {
    const text = await textOf();
    t.ok(text.length > 1_000, `${text.length} characters`);
    t.equal(readText(path), text, `${path} is not what its sources say: npm run docs`);
  });
}
