/** HTTP against a running server, told apart by what the caller then knows. */

/** An answer of the server, of any status. */
export type Answer = { status: number; body: Json };
/** Whatever JSON came; tests look at what they need and compare the rest as a whole. */
// biome-ignore lint/suspicious/noExplicitAny: answers are read by name, as any client does
export type Json = any;

/** No answer came: what was asked may have happened, or not. */
export class NoAnswer extends Error {}

const ANSWERS_WITHIN_MS = 30_000;

/** One request with a bearer token. Throws `NoAnswer` when the connection fails. */
export async function request(
  token: string,
  method: string,
  url: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const signal = AbortSignal.timeout(ANSWERS_WITHIN_MS);
  try {
    const response = await fetch(url, {
      method,
      headers: { ...headers, authorization: `Bearer ${token}` },
      signal,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: JSON.parse(text) };
  } catch (error) {
    if (signal.aborted) throw new Error(`${method} ${url} was not answered in time`);
    if (error instanceof SyntaxError) throw new Error(`${method} ${url} did not answer JSON`);
    const { cause } = error as { cause?: { code?: string; message?: string } };
    const why = cause?.code ?? cause?.message ?? String(error);
    throw new NoAnswer(`${method} ${url}: no answer (${why})`);
  }
}

/**
 * A request that must succeed: its body. A server may close an idle connection in the moment that
 * it is used again, so what only reads is tried once more.
 */
export async function ask(
  token: string,
  method: string,
  url: string,
  body?: object,
): Promise<Json> {
  const answer = await request(token, method, url, body).catch((error: unknown) => {
    if (!(error instanceof NoAnswer) || method !== 'GET') throw error;
    return request(token, method, url);
  });
  if (answer.status < 300) return answer.body;
  throw new Error(`${method} ${url}: ${answer.status} ${JSON.stringify(answer.body)}`);
}

/** Every row of a paged list, `limit` at a time. */
export async function allRows(
  token: string,
  url: string,
  rows: string,
  limit = 200,
): Promise<Json[]> {
  const all: Json[] = [];
  const page = new URL(url);
  page.searchParams.set('limit', String(limit));
  for (;;) {
    const answer = await ask(token, 'GET', page.href);
    all.push(...answer[rows]);
    if (answer.nextCursor === null) return all;
    page.searchParams.set('cursor', answer.nextCursor);
  }
}

/** Dollars of an answer, which have two decimals at most, as whole cents. */
export function centsOf(dollars: number): number {
  return Math.round(dollars * 100);
}
