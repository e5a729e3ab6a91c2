/** A provider's credential on the command line; `GivenFlags` hides its own fields. */

export interface CredentialFlags {
  readonly usage: string;
  readonly flags: Readonly<Record<string, CredentialFlag>>;
  read(given: GivenFlags): Promise<unknown>;
}

interface CredentialFlag {
  readonly type: 'string' | 'boolean';
  /** The placeholder of its value: `file` is completed with names of files. */
  readonly value?: string;
  readonly about: string;
}

export interface GivenFlags {
  isSet(flag: string): boolean;
  text(flag: string): string;
  readFile(path: string): Promise<string>;
  refuse(sentence: string): never;
}
