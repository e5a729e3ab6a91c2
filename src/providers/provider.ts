/** All that the engine knows of a provider: each folder's `provider.ts`, listed in providers.ts. */

import type { PlatformId } from '../../packages/std/src/platforms.ts';
import type { Message, Payload } from '../domain/notification.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { PayloadFault } from '../domain/payload.ts';
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

/** `Origins`: the operator's settings for it, plain data that crosses to worker threads. */
export interface Provider<Credential extends { readonly kind: string }, Origins> {
  readonly platformId: PlatformId;
  readonly kind: Credential['kind'];
  readonly name: string;

  readonly credentialFlags: CredentialFlags;
  /**
   * An address in it is compared with the operator's, and is never called. The form is loaded when
   * it is asked for: worker threads load the descriptor, and check no credential.
   */
  parseCredential(input: unknown, origins: Origins): Promise<ParsedCredential<Credential>>;
  /** The credential without its key: one of the same account may replace it. Null: none may. */
  accountOf(credential: Credential): string | null;
  /** The credential without its secrets, as its owner sees it again. */
  publicPart(credential: Credential): Readonly<Record<string, unknown>>;
  /** A fact about it that apps need, as a sentence without its full stop. Null: none. */
  publicNote(credential: Credential): string | null;

  readonly meanings: Readonly<Record<string, string>>;

  /** The fault in the form of a token, as `must be …`. Null: none. */
  tokenFault(deviceId: string): string | null;

  /** It refuses what is larger. */
  payloadBytesMax(payload: Payload): number;
  /** The part of a message that counts against that, without the names of the device. */
  content(message: Message, nowMs: number): string;
  /** Further faults of a payload that it would refuse for every device. */
  faults(payload: Payload): readonly PayloadFault[];
  /** Warns of effects that a publisher may not expect: a sentence. Null: none. */
  warning(payload: Payload): string | null;

  /** First sends go on for so long if the publisher has set no end. */
  readonly patienceMs: number;
  /** When a push is tried again. */
  retryPolicy(origins: Origins): RetryPolicy;
  /** The quota that a push with this credential counts towards. Null: none is known. */
  quota(credential: Credential, origins: Origins): Quota | null;

  /** How its `authorization` value is made. Null: its sender needs none from elsewhere. */
  minting(credential: Credential, origins: Origins, trustedAt: TrustedAt): Minting | null;
  /** The reason for a key with too many tokens; none is made for `pauseMs`. Null: none. */
  readonly tooManyTokens: { readonly reason: string; readonly pauseMs: number } | null;
  /** When it was signed, by the clock of that moment. Null: the value does not say so. */
  signedAtMs(authorization: string): number | null;

  /** Makes a sender. It connects at its first `whenReady`. */
  createSender(credential: Credential, parts: SenderParts<Origins>): Sender;
  /** A push for no device: if only the device is refused, the key is good. Null: not askable. */
  probe(credential: Credential, authorization: string, origins: Origins): Probe | null;
  /** Names what cannot be asked about, in a sentence from NOBODY_ASKED on. Null: nothing. */
  unaskedNote(credential: Credential): string | null;
}

export interface RetryPolicy {
  readonly failed: BackoffPolicy;
  /** It is not known whether the provider accepted the push. */
  readonly unknown: BackoffPolicy;
}

export interface Quota {
  /** Credentials with the same key share the quota. */
  readonly key: string;
  readonly perMinute: number;
}

/** The certificates that are trusted at an origin besides the system's. */
export type TrustedAt = (origin: string) => string | null;

/** How the `authorization` value of a credential is made, on the main thread. */
export interface Minting {
  /** Those with the same identity share a value. The private key is part of the identity. */
  readonly identity: string;
  /** The least time between two values, made by all nodes together. */
  readonly apartMs: number;
  /** Some devices get their pushes without a value: only the others wait while none can be made. */
  readonly isOptional?: boolean;
  /** `nowMs`: the time to sign. */
  mint(nowMs: number): Promise<Minted>;
}

export interface SenderParts<Origins> {
  readonly origins: Origins;
  /** The first value; `authorize` brings later ones. */
  readonly authorization: string;
  /** These replace single limits of the provider. */
  readonly limits: Partial<TransportLimits>;
  makeTransport(options: Omit<TransportOptions, 'ca' | 'meter'>): Transport;
}

export interface Probe {
  readonly request: Pick<PostRequest, 'origin' | 'path' | 'fields' | 'body'>;
  outcomeOf(answer: Answer): Outcome;
}
