/** Puts a reader's own values into the program of a guide, in place of its examples. */

export function withOwnValues(code: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((own, [example, value]) => {
    if (!own.includes(example)) throw new Error(`the guide has no ${example}`);
    return own.replace(example, value);
  }, code);
}
