/** The description of one operation in OpenAPI, beyond what all routes of its API share. */

import type { z } from 'zod';

export type Json = Readonly<Record<string, unknown>>;

export interface Parameter {
  readonly description: string;
  readonly schema: z.ZodType;
  readonly example: string | number | boolean;
}

export interface Content {
  readonly schema: z.ZodType;
  readonly example: unknown;
}

/** An answer that is no problem. */
export interface Answer {
  readonly description: string;
  /** Keyed by media type; an answer without a body has none. */
  readonly content: Readonly<Record<string, Content>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Operation {
  /** A line, without a full stop. */
  readonly summary: string;
  /** Markdown. Who may call is added to it. */
  readonly description?: string;
  /** The parts of the path but `client`, by their names. */
  readonly path?: Readonly<Record<string, Parameter>>;
  readonly query?: Readonly<Record<string, Parameter>>;
  readonly headers?: Readonly<Record<string, Parameter>>;
  readonly body?: Content & {
    /** It may also be the part `data` of a `multipart/form-data`. */
    readonly isAlsoMultipart?: true;
  };
  readonly answers: Readonly<Record<number, Answer>>;
  readonly problems?: readonly number[];
}
