/** A provider's credential on the command line, whose own part is behind `GivenFlags`. */

export interface CredentialFlags {
  /** The usage text after `tagcast app credentials <app-id> <platform>`. */
  readonly usage: string;
  readonly flags: Readonly<Record<string, { readonly type: 'string' | 'boolean' }>>;
  /** Builds the input that the provider's form checks. */
  read(given: GivenFlags): Promise<unknown>;
}

export interface GivenFlags {
  isSet(flag: string): boolean;
  /** The flag's text; refuses when it is missing. */
  text(flag: string): string;
  /** The file's text; refuses when it cannot be read. */
  readFile(path: string): Promise<string>;
  /** Ends the command with this sentence. */
  refuse(sentence: string): never;
}
