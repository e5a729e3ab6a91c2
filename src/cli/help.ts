/** The text of `--help`: of a command, and of each of its verbs. */

import type { Argument, CommandDescription, Flag, VerbDescription } from './command.ts';

const HELP = ['--help', 'this text'] as const;
/** Columns up to which a name is padded; what is longer has its sentence on the next line. */
const NAME_COLUMNS_MAX = 34;

export function helpOf(description: CommandDescription, verbName: string | null = null): string {
  const { name, verbs, notes } = description;
  const only = verbs[''];
  if (only !== undefined) return verbHelp(`tagcast ${name}`, only, notes);
  const verb = verbName === null ? undefined : verbs[verbName];
  if (verb !== undefined) return verbHelp(`tagcast ${name} ${verbName}`, verb, verb.notes);
  const rows = Object.entries(verbs).map(
    ([verbName, { arguments: given, summary }]) =>
      [[verbName, ...given.map(placeOf)].join(' '), summary] as const,
  );
  return paragraphs([
    `tagcast ${name} ${Object.keys(verbs).join('|')} …`,
    columns(rows),
    notes,
    `\`tagcast ${name} ${Object.keys(verbs)[0]} --help\` says more about one of them.`,
  ]);
}

function verbHelp(title: string, verb: VerbDescription, notes: string | undefined): string {
  const flags = Object.entries(verb.flags).map(
    ([flag, told]) => [`--${flag}${valuePlaceOf(told)}`, aboutOf(told)] as const,
  );
  return paragraphs([
    [title, ...verb.arguments.map(placeOf), ...(flags.length === 0 ? [] : ['[flags]'])].join(' '),
    verb.summary,
    columns([...flags, HELP]),
    notes,
  ]);
}

const placeOf = ({ name, choices, isOptional = false }: Argument): string => {
  const place = choices === undefined ? `<${name}>` : `<${name}: ${choices.join('|')}>`;
  return isOptional ? `[${place}]` : place;
};

/** The text after a flag: ` <file>`; after a boolean one nothing. */
function valuePlaceOf({ type, value, choices }: Flag): string {
  if (type === 'boolean') return '';
  return value === undefined && choices !== undefined
    ? ` <${choices.join('|')}>`
    : ` <${value ?? 'text'}>`;
}

function aboutOf({ about, default: usual, multiple = false }: Flag): string {
  const text = multiple ? `${about}; may be repeated` : about;
  return typeof usual === 'string' ? `${text} (${usual})` : text;
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const lengths = rows.map(([name]) => name.length).filter((length) => length <= NAME_COLUMNS_MAX);
  const width = Math.max(...lengths, 0) + 2;
  return rows
    .map(([name, about]) =>
      name.length + 2 > width
        ? `  ${name}\n  ${' '.repeat(width)}${about}`
        : `  ${name.padEnd(width)}${about}`,
    )
    .join('\n');
}

const paragraphs = (texts: readonly (string | undefined)[]): string =>
  texts.filter((text) => text !== undefined && text !== '').join('\n\n');
