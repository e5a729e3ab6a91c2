/**
 * All that the engine asks about a provider. Each folder beside this file answers it in its
 * `provider.ts`, and providers.ts names them: whatever is not told there the engine knows of no
 * provider.
 */

import type { PlatformId } from '../domain/device.ts';
import type { Message } from '../domain/notification.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { BackoffPolicy } from '../std/backoff.ts';
import type { PostRequest } from '../transport/compat/post.ts';
import type {
  Answer,
  Transport,
  TransportLimits,
  TransportOptions,
} from '../transport/transport.ts';
import type { CredentialFlags } from './credential-flags.ts';
import type { ParsedCredential } from './credential-form.ts';
import type { Minted } from './minted.ts';
import type { Sender } from './sender.ts';

/** `Origins`: what the operator has set for it, plain data that crosses to worker threads. */
export interface Provider<Credential extends { readonly kind: string }, Origins> {
  readonly platformId: PlatformId;
  /** As its credentials are marked. */
  readonly kind: Credential['kind'];
  /** As people know it. */
  readonly name: string;

  /** Its credential on the command line. */
  readonly credentialFlags: CredentialFlags;
  /**
   * Checks what a tenant gave as a credential. An address in it is compared with the operator's and
   * never called.
   */
  parseCredential(input: unknown, origins: Origins): ParsedCredential<Credential>;
  /**
   * All of it but the key: one of the same account sends to the same devices, so that it may stand
   * in. Null: none may.
   */
  accountOf(credential: Credential): string | null;
  /** What apps have to know of it, as a sentence without its full stop; null: nothing. */
  publicNote(credential: Credential): string | null;

  /** What its words for a fault mean, and what to repair. */
  readonly meanings: Readonly<Record<string, string>>;

  /** Larger payloads it refuses. */
  readonly payloadBytesMax: number;
  /** What of a message counts against that. */
  payloadBytes(message: Message): number;

  /** First sends go on for so long where the publisher has set no end. */
  readonly patienceMs: number;
  /** When a push is tried again. */
  retryPolicy(origins: Origins): RetryPolicy;
  /** Whose quota a push with this credential counts towards; null: nobody's that we know of. */
  quota(credential: Credential, origins: Origins): Quota | null;

  /** How its `authorization` value is made; null: its sender needs none from elsewhere. */
  minting(credential: Credential, origins: Origins, trustedAt: TrustedAt): Minting | null;
  /**
   * The provider says so of a key of which it has had too many values; none is made for a while
   * then. Null: it never does.
   */
  readonly tooManyTokens: { readonly reason: string; readonly pauseMs: number } | null;

  /** A sender that has not connected yet; it does with the first `whenReady`. */
  createSender(credential: Credential, parts: SenderParts<Origins>): Sender;
  /**
   * A push for a device that cannot exist: who is told that the device is wrong was let in. Null:
   * there is nobody to ask.
   */
  probe(credential: Credential, authorization: string, origins: Origins): Probe | null;
}

/** Where the provider names no time. */
export interface RetryPolicy {
  /** The provider failed. */
  readonly failed: BackoffPolicy;
  /** Nobody knows whether it was accepted. */
  readonly unknown: BackoffPolicy;
}

/** What all nodes together may send. */
export interface Quota {
  /** Credentials of one key share it. */
  readonly key: string;
  readonly perMinute: number;
}

/** The certificates that are trusted at an origin besides the system's. */
export type TrustedAt = (origin: string) => string | null;

/** How the `authorization` value of a credential is made, on the main thread. */
export interface Minting {
  /**
   * Credentials that sign alike share one value. Whoever has not the key gets none of its values,
   * so the key is part of it.
   */
  readonly identity: string;
  /** Two of them are made at least so far apart, by all nodes together. */
  readonly apartMs: number;
  /** Some devices get their pushes without it: only the others wait for one that cannot be made. */
  readonly isOptional?: boolean;
  /** `nowMs`: the time that is signed. */
  mint(nowMs: number): Promise<Minted>;
}

/** What a sender is made of. */
export interface SenderParts<Origins> {
  readonly origins: Origins;
  /** The first value; `authorize` brings later ones. */
  readonly authorization: string;
  /** In place of single limits of the provider's own. */
  readonly limits: Partial<TransportLimits>;
  makeTransport(options: Omit<TransportOptions, 'ca'>): Transport;
}

export interface Probe {
  readonly request: Pick<PostRequest, 'origin' | 'path' | 'fields' | 'body'>;
  outcomeOf(answer: Answer): Outcome;
}
