/** Requests of a web page to another origin, as a browser makes them (Fetch, 3.2 and 4.8). */

/** Methods and Content-Types that need no preflight. */
const SIMPLE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST']);
const SIMPLE_CONTENT = /^(?:text\/plain|application\/x-www-form-urlencoded|multipart\/form-data)/i;

/**
 * `fetch` of a page of `origin`: asks by a preflight where a browser does, and rejects where a
 * browser does not let the page see the answer.
 */
export const pageOf =
  (origin: string) =>
  async (
    url: string,
    method: string,
    headers: Readonly<Record<string, string>>,
    body?: string,
  ): Promise<Response> => {
    const asking = Object.entries(headers)
      .filter(([name, value]) => !isSimple(name, value))
      .map(([name]) => name.toLowerCase())
      .sort();
    if (asking.length > 0 || !SIMPLE_METHODS.has(method)) {
      const preflight = await fetch(url, {
        method: 'OPTIONS',
        headers: {
          Origin: origin,
          'Access-Control-Request-Method': method,
          'Access-Control-Request-Headers': asking.join(','),
        },
      });
      if (!preflight.ok) throw new Error(`the preflight was answered ${preflight.status}`);
      assertShared(preflight, origin);
      const allowed = listOf(preflight, 'access-control-allow-headers');
      const refused = asking.filter((name) => !allowed.includes(name));
      if (refused.length > 0) throw new Error(`the page may not send ${refused.join(', ')}`);
      const methods = listOf(preflight, 'access-control-allow-methods');
      if (!SIMPLE_METHODS.has(method) && !methods.includes(method.toLowerCase())) {
        throw new Error(`the page may not ${method}`);
      }
    }
    const answer = await fetch(url, {
      method,
      headers: { ...headers, Origin: origin },
      ...(body === undefined ? {} : { body }),
    });
    assertShared(answer, origin);
    return answer;
  };

const isSimple = (name: string, value: string): boolean =>
  /^accept(?:-language)?$/i.test(name) ||
  (/^content-type$/i.test(name) && SIMPLE_CONTENT.test(value));

function assertShared({ headers }: Response, origin: string): void {
  const allowed = headers.get('access-control-allow-origin');
  if (allowed !== '*' && allowed !== origin) {
    throw new Error(`a page of ${origin} does not see the answer: ${allowed}`);
  }
}

const listOf = ({ headers }: Response, name: string): readonly string[] =>
  (headers.get(name) ?? '').split(',').map((entry) => entry.trim().toLowerCase());
