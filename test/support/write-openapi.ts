/**
 * Writes the OpenAPI document of this build:
 *
 *     npm run openapi     # dist/openapi.json
 */

import { writeFileSync } from 'node:fs';
import { documentOfRoutes } from './openapi-document.ts';

const [path = 'dist/openapi.json'] = process.argv.slice(2);

writeFileSync(path, `${JSON.stringify(documentOfRoutes(), null, 2)}\n`);
