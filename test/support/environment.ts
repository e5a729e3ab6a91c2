/**
 * The settings that `run.ts` passes to the test files through the environment: the only place in
 * the tests that reads it.
 */

/** A PostgreSQL server on which tests make databases of their own; absent: none was found. */
export const databaseUrl: string | undefined = process.env['TEST_DATABASE_URL'];

/** A migrated embedded data directory to copy, which spares each test the seconds of an initdb. */
export const embeddedTemplate: string | undefined = process.env['TEST_EMBEDDED_TEMPLATE'];

/** A migrated database on that server, to copy. */
export const databaseTemplate: string | undefined = process.env['TEST_DATABASE_TEMPLATE'];

/** Where the runner keeps how long files take; absent: in the checkout. */
export const timesFile: string | undefined = process.env['TEST_TIMES_FILE'];

/** CI: what would be skipped for want of a server is a failure. */
export const skipsForbidden: boolean = process.env['TEST_SKIPS_FORBIDDEN'] === '1';

/** CI could not install Swift: the test that wants it may be skipped all the same. */
export const isWithoutSwift: boolean = process.env['TEST_WITHOUT_SWIFT'] === '1';

/** Where tests in a browser put pictures of the pages; absent: nowhere. */
export const screenshotsFolder: string | undefined = process.env['TEST_SCREENSHOTS'];

/** Where programs are looked for. */
export const searchPath: string = process.env['PATH'] ?? '';
