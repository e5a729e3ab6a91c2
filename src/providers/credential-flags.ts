/** A provider's credential on the command line; `GivenFlags` hides its own fields. */

export interface CredentialFlags {
  /** The usage text after `tagcast app credentials <app> <provider>`. */
  readonly usage: string;
  readonly flags: Readonly<Record<string, CredentialFlag>>;
  /** Builds the input that the provider's form checks. */
  read(given: GivenFlags): Promise<unknown>;
}

/** A flag, and its line in the help. */
interface CredentialFlag {
  readonly type: 'string' | 'boolean';
  /** The placeholder of its value: `file` is completed with names of files. */
  readonly value?: string;
  readonly about: string;
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
