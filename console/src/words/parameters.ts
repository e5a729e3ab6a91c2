/** Optional parameters of a tag, as lines of `name = value`. */

/** Null: a line is none. */
export function readParameters(text: string): Readonly<Record<string, string>> | null {
  const read: Record<string, string> = {};
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const at = line.indexOf('=');
    const name = line.slice(0, at).trim();
    if (at < 1 || name === '') return null;
    read[name] = line.slice(at + 1).trim();
  }
  return read;
}

export const writeParameters = (parameters: Readonly<Record<string, string>>): string =>
  Object.entries(parameters)
    .map(([name, value]) => `${name} = ${value}`)
    .join('\n');

/** For an input of date and time, in the viewer's zone. */
export function localInput(atMs: number): string {
  const date = new Date(atMs);
  const pad = (part: number) => String(part).padStart(2, '0');
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}T${pad(date.getHours())}:${pad(date.getMinutes())}`;
}
