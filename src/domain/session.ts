/** Someone who has signed in to the console, and what they may do in which clients. */

import type { MemberRole } from './caller.ts';
import type { ClientLimits } from './client-limits.ts';

interface Membership {
  readonly clientId: number;
  readonly clientSlug: string;
  readonly clientName: string;
  readonly role: MemberRole;
  readonly isDisabled: boolean;
  readonly limits: ClientLimits | null;
  readonly hasPolicies: boolean;
}

export interface Session {
  readonly tokenHash: Buffer;
  readonly accountId: number;
  readonly email: string;
  readonly isOperator: boolean;
  readonly memberships: readonly Membership[];
  readonly endsAtMs: number;
  /** A value that requests of this session carry to prove that our own page made them. */
  readonly csrfToken: string;
}
