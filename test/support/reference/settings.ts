/** docs/reference/settings.md and config/example.env: what `app/config.ts` says of variables. */

import type { z } from 'zod';
import { schema } from '../../../src/app/config.ts';
import { tableOf } from './table.ts';

const HEAD = `# Settings

Every environment variable that Tagcast reads, with its default and what it may be. An empty value
counts as not set. [\`config/example.env\`](../../config/example.env) has the same, to copy and
change; [operating](../operate/install.md) says when to set which.
`;
const EXAMPLE_HEAD = `# Every variable that Tagcast reads, with its default; npm run docs writes it.
# Copy it, take the # away from what you change, and start with
#     set -a; . ./my.env; set +a; npm start
`;

/** A form of zod: its kind and the forms that it wraps lead to the default. */
interface Wrapping {
  readonly type: string;
  readonly defaultValue?: unknown;
  readonly innerType?: z.ZodType;
  readonly in?: z.ZodType;
}

/** No variable that has a form takes it, and every form says what it takes instead. */
const WRONG = '\0';
const FORM = /^must (?:be |have )?(.+)$/;

interface Setting {
  readonly name: string;
  readonly description: string;
  /** The default in an environment; '': there is none, or the description says it. */
  readonly value: string;
  /** The allowed values; '': any text. */
  readonly form: string;
}

const settings: readonly Setting[] = Object.entries(schema.shape).map(([name, option]) => {
  const { description = '' } = option;
  const issues = option.safeParse(WRONG).error?.issues ?? [];
  return {
    name,
    description,
    value: description.includes('Default: ') ? '' : asText(defaultOf(option)),
    form: FORM.exec(issues[0]?.message ?? '')?.[1] ?? '',
  };
});

/** The innermost default: as it was written, before anything is made of it. */
function defaultOf(option: z.ZodType): unknown {
  const { type, defaultValue, innerType, in: input } = option.def as Wrapping;
  if (type === 'default') return defaultValue;
  const wrapped = innerType ?? input;
  return wrapped === undefined ? undefined : defaultOf(wrapped);
}

function asText(value: unknown): string {
  if (Array.isArray(value)) return value.join(',');
  if (typeof value === 'boolean') return value ? '1' : '0';
  return value === undefined ? '' : String(value);
}

/** An address is no link: many are only the form of one. */
const withCode = (text: string): string =>
  text.replaceAll(/`[^`]+`|[a-z]+:\/\/[^\s,;]*[^\s,;.]/g, (found) =>
    found.startsWith('`') ? found : `\`${found}\``,
  );

export function settingsReference(): string {
  const rows = settings.map(({ name, description, value, form }) => [
    `\`${name}\``,
    withCode(description),
    value === '' ? '' : `\`${value}\``,
    withCode(form),
  ]);
  return `${HEAD}\n${tableOf(['variable', 'what it is', 'default', 'may be'], rows)}`;
}

export function exampleEnvironment(): string {
  const entries = settings.map(
    ({ name, description, value }) => `# ${description}\n#${name}=${value}\n`,
  );
  return [EXAMPLE_HEAD, ...entries].join('\n');
}
