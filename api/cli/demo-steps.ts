/** The demo's output: curl lines that work unchanged, one after another. */
import { CODE_VALID_MS } from '../identity/one-time-codes.ts';
import type { Paperbook } from '../main.ts';
import type { DemoUser } from './demo-user.ts';

/** `page`: a link to the page. */
type Server = Pick<Paperbook, 'baseUrl' | 'adminUrl'> & { page: string; adminTokenFile: string };
type Listed = { instrument: string; label: string; askCents: number };

type Instruments = { instruments: { id: string; startsAt: string }[] };
type Quotes = {
  quotes: { instrumentId: string; label: string; venues: { yesAskCents: number | null }[] }[];
};

const WAIT_MS = 15_000;

export async function firstSteps(
  { baseUrl, adminUrl, page, adminTokenFile }: Server,
  user: DemoUser,
): Promise<string> {
  const listed = await firstQuoted(baseUrl, user.key);
  return [
    'Paperbook demo: paper money at simulated prices.',
    '',
    `  Page    ${page}`,
    ...(page.includes('#') ? [`          opens signed in, once, ${lifeOfLink(Date.now())}`] : []),
    `  API     ${baseUrl}`,
    `  Docs    ${new URL('/docs', baseUrl).href}`,
    `  Admin   ${adminUrl}`,
    `          opens a page for the operator, with the token of ${adminTokenFile}`,
    `  Key     ${user.key}`,
    '',
    ...(listed === null
      ? ['No venue has a quote yet; GET /instruments lists all instruments.']
      : ['Try these, in this order:', '', ...steps(baseUrl, user.key, listed)]),
    '',
    'Ctrl-C stops it; the next start keeps the same account.',
  ].join('\n');
}

/** In the time of this machine, since a person reads it there. */
function lifeOfLink(nowMs: number): string {
  const until = new Date(nowMs + CODE_VALID_MS);
  const at = [until.getHours(), until.getMinutes()].map((part) => String(part).padStart(2, '0'));
  const minutes = CODE_VALID_MS / 60_000;
  return `within ${minutes} minutes, until ${at.join(':')}; each start prints a new link`;
}

function steps(baseUrl: string, key: string, { instrument, label, askCents }: Listed): string[] {
  const auth = `-H 'Authorization: Bearer ${key}'`;
  const run = Date.now().toString(36);
  const get = (path: string) => `curl -s ${auth} '${baseUrl}${path}'`;
  const post = (order: object) =>
    `curl -s ${auth} ${baseUrl}/portfolio/orders -d '${JSON.stringify(order)}'`;
  const buy = { action: 'buy', instrumentId: instrument, side: 'yes', count: 10 };
  const limitPriceCents = askCents - 2;
  const tradeId = `'"$(${get('/portfolio/trades?status=open&limit=1')} | ${TRADE_ID})"'`;
  return [
    '# instruments with a live price',
    get('/instruments?priced=true&limit=5'),
    `# the live quote of "${label}"`,
    get(`/quotes?ids=${instrument}`),
    '# buy ten contracts at the ask',
    post({ ...buy, type: 'market', idempotencyKey: `buy-${run}` }),
    '# bid two cents less: the order holds its cost and fills when the price falls',
    post({ ...buy, type: 'limit', limitPriceCents, idempotencyKey: `bid-${run}` }),
    '# cash, positions and resting orders',
    get('/portfolio'),
    '# sell the newest position at the bid',
    post({
      action: 'sell',
      type: 'market',
      tradeId: 'TRADE',
      idempotencyKey: `sell-${run}`,
    }).replace('TRADE', tradeId),
  ];
}

/** Extracts the trade's id from a list of one trade. */
const TRADE_ID = `sed 's/.*"tradeId":"\\([^"]*\\)".*/\\1/'`;

/** An instrument with a live yes ask; waits a while for the venues. */
async function firstQuoted(baseUrl: string, key: string): Promise<Listed | null> {
  const headers = { authorization: `Bearer ${key}` };
  const get = async <T>(path: string) => {
    return (await fetch(baseUrl + path, { headers })).json() as Promise<Partial<T>>;
  };
  const until = Date.now() + WAIT_MS;
  const { instruments = [] } = await get<Instruments>('/instruments?tradable=true&limit=100');
  // Games that start late leave the most time to try things.
  const latest = instruments.sort((a, b) => (a.startsAt < b.startsAt ? 1 : -1)).slice(0, 10);
  while (latest.length > 0) {
    const ids = latest.map(({ id }) => id).join(',');
    const { quotes = [] } = await get<Quotes>(`/quotes?ids=${ids}`);
    for (const { instrumentId, label, venues } of quotes) {
      const askCents = venues[0]?.yesAskCents ?? null;
      if (askCents !== null && askCents > 2) return { instrument: instrumentId, label, askCents };
    }
    if (Date.now() > until) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return null;
}
