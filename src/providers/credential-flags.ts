/**
 * How a provider's credential is given on the command line; what the command line itself does
 * stands behind `GivenFlags`.
 */

export interface CredentialFlags {
  /** What follows `tagcast app credentials <app-id> <platform>`. */
  readonly usage: string;
  readonly flags: Readonly<Record<string, { readonly type: 'string' | 'boolean' }>>;
  /** Puts together what the provider's form checks. */
  read(given: GivenFlags): Promise<unknown>;
}

export interface GivenFlags {
  isSet(flag: string): boolean;
  /** Refuses when it is missing. */
  text(flag: string): string;
  /** Refuses when it cannot be read. */
  readFile(path: string): Promise<string>;
  /** Ends the command with this sentence. */
  refuse(sentence: string, cause?: unknown): never;
}
