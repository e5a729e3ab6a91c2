/** The facts of a provider's credential: texts by their names, however deep they are. */

export function credentialFacts(
  credential: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> {
  const facts: Record<string, string> = {};
  for (const [name, value] of Object.entries(credential)) {
    if (typeof value === 'string') facts[name] = value;
    else if (typeof value === 'object' && value !== null) {
      Object.assign(facts, credentialFacts(value as Readonly<Record<string, unknown>>));
    }
  }
  return facts;
}
