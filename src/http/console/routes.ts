/** The console's own API: accounts and what concerns them. All else is in the other APIs. */

import type { PatientReads } from '../../store/patient-reads.ts';
import { consoleAuditRoute } from '../admin/audit.ts';
import type { Route } from '../handler.ts';
import type { SystemParts } from '../operator/system.ts';
import { consoleSystemRoute } from '../operator/system.ts';
import { credentialsRoute } from './credentials.ts';
import type { MemberParts } from './members.ts';
import { memberRoutes } from './members.ts';
import { passwordRoutes } from './password.ts';
import type { RegisterParts } from './register.ts';
import { registerRoutes } from './register.ts';
import type { SessionParts } from './session.ts';
import { sessionRoutes } from './session.ts';

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
