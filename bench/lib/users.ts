/** Users and keys created by the operator's listener, with limits high enough for a benchmark. */
import type { Scope } from '../../api/identity/keys.ts';
import type { Paperbook, Served } from './server.ts';

/** The plan that may carry its own limits (rule L9 of engine/RULES.md). */
export const PLAN = 'enterprise';
export const WIDE = {
  newPerMinute: 1_000_000_000,
  newPerDay: 1_000_000_000,
  closingPerMinute: 1_000_000_000,
};
export const SCOPES: Scope[] = ['portfolio:read', 'markets:read', 'trade:write'];

/** Creates so many users with a key each; returns the keys. */
export async function makeUsers(server: Served, users: number, name: string): Promise<string[]> {
  const keys: string[] = [];
  for (let user = 0; user < users; user++) {
    const made = await admin<{ user: { id: string } }>(server, '/admin/users', {
      email: `${name}-${user}@bench.local`,
      plan: PLAN,
      tradeLimits: { key: WIDE, account: WIDE },
    });
    const { token } = await admin<{ token: string }>(server, '/admin/keys', {
      userId: made.user.id,
      scopes: SCOPES,
    });
    keys.push(token);
  }
  return keys;
}

async function admin<T>({ adminUrl, adminToken }: Served, path: string, body: object) {
  return (await postJson(`${adminUrl}${path}`, adminToken, body)) as T;
}

/** The answer's value. Throws unless it is 200. */
export async function postJson(url: string, token: string, body: object): Promise<unknown> {
  return await askJson(url, token, { method: 'POST', body: JSON.stringify(body) });
}

/** The answer's value. Throws unless it is 200. */
export async function askJson(url: string, token: string, init: RequestInit = {}) {
  const answer = await fetch(url, { ...init, headers: { authorization: `Bearer ${token}` } });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}: ${text}`);
  return JSON.parse(text) as unknown;
}

type Instruments = { instruments: { id: string; startsAt: string }[] };
type Quotes = { quotes: { instrumentId: string; venues: { yesAskCents: number | null }[] }[] };

/** Instruments with a live ask whose games start last, so that none of them ends during a run. */
export async function tradableInstruments(
  server: Pick<Paperbook, 'port' | 'basePath' | 'demoKey'>,
  wanted: number,
): Promise<string[]> {
  const base = `http://127.0.0.1:${server.port}${server.basePath}`;
  const list = `${base}/instruments?tradable=true&limit=100`;
  const { instruments } = (await askJson(list, server.demoKey)) as Instruments;
  const ids = instruments
    .sort((a, b) => (a.startsAt < b.startsAt ? 1 : -1))
    .slice(0, wanted)
    .map(({ id }) => id);
  const quotesUrl = `${base}/quotes?ids=${ids.join(',')}`;
  const { quotes } = (await askJson(quotesUrl, server.demoKey)) as Quotes;
  const live = quotes.filter(({ venues }) =>
    venues.some(({ yesAskCents }) => yesAskCents !== null),
  );
  if (live.length === 0) throw new Error('no instrument of the demo has a price');
  return live.map(({ instrumentId }) => instrumentId);
}
