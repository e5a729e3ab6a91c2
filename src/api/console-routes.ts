/** The console's own API: accounts and what concerns them. All else is in the other APIs. */

import { credentialsRoute } from '../access/routes/console-credentials.ts';
import type { MemberParts } from '../access/routes/members.ts';
import { memberRoutes } from '../access/routes/members.ts';
import { passwordRoutes } from '../access/routes/password.ts';
import type { RegisterParts } from '../access/routes/register.ts';
import { registerRoutes } from '../access/routes/register.ts';
import type { SessionParts } from '../access/routes/session.ts';
import { sessionRoutes } from '../access/routes/session.ts';
import { consoleAuditRoute } from '../audit/routes/audit.ts';
import type { PatientReads } from '../database/patient-reads.ts';
import type { Route } from '../http/handler.ts';
import type { SystemParts } from './open/system.ts';
import { consoleSystemRoute } from './open/system.ts';

export interface ConsoleApi extends SessionParts, RegisterParts, MemberParts {
  readonly patientReads: PatientReads;
  readonly readSystem: SystemParts['readSystem'];
}

export const consoleRoutes = (api: ConsoleApi): readonly Route[] => [
  ...registerRoutes(api),
  ...sessionRoutes(api),
  ...passwordRoutes(api),
  ...memberRoutes(api),
  credentialsRoute(api),
  consoleAuditRoute(api.patientReads),
  consoleSystemRoute(api),
];
