/** A server whose page shows many games, and the venue that quotes both winners of each. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Catalog } from '../../engine/rules/catalog-entries.ts';
import { catalogOf } from './catalog.ts';
import { seededRandom } from './random.ts';
import { type Served, startServe } from './server.ts';

const LEAGUES = ['nfl', 'nba', 'mlb', 'nhl'];
const DAY_MS = 86_400_000;
const SLICE_MS = 20;

/** Of so many games, which start tomorrow; its data is in this directory. */
export async function startGames(dir: string, games: number): Promise<Served> {
  const file = path.join(dir, 'catalog.json');
  const { games: listed, instruments } = gamesCatalog(games);
  writeFileSync(file, JSON.stringify({ games: listed, instruments }));
  return await startServe(path.join(dir, 'data'), {
    PAPERBOOK_CATALOG: file,
    PAPERBOOK_VENUE_DATA: 'on',
    PAPERBOOK_QUOTE_MAX_AGE_MS: '600000',
  });
}

function gamesCatalog(count: number): Catalog {
  const startsAt = new Date(Date.now() + DAY_MS).toISOString();
  const plain = catalogOf(2 * count);
  const games = Array.from({ length: count }, (_, at) => {
    const league = LEAGUES[at % LEAGUES.length]!;
    const team = (code: string, name: string) => ({ code: `${code}${at}`, name: `${name} ${at}` });
    const [away, home] = [team('A', 'Otters'), team('H', 'Herons')];
    const id = `game_${String(at).padStart(10, '0')}`;
    const season = { season: 2026, seasonType: 'regular', week: null } as const;
    return { id, slug: `game-${at}`, league, startsAt, status: 'scheduled', home, away, ...season };
  }) as Catalog['games'];
  for (const [at, instrument] of plain.instruments.entries()) {
    const { slug, league, home, away } = games[Math.floor(at / 2)]!;
    const subject = at % 2 === 0 ? away : home;
    const label = `${subject.name} to win`;
    const winner = { gameSlug: slug, league, marketType: 'moneyline', subject, label } as const;
    Object.assign(instrument, winner, { startsAt });
  }
  return { ...plain, games };
}

/** Native quotes through the operator's listener. */
export class GamesFeed {
  readonly #server: Served;
  readonly #markets: number;
  readonly #random = seededRandom(7);
  #seq = 0;
  #isRunning = false;
  #running: Promise<void> = Promise.resolve();

  /** Of both winners of so many games. */
  constructor(server: Served, games: number) {
    this.#server = server;
    this.#markets = 2 * games;
  }

  /** Each market once, all with this bid. */
  async quoteAll(bidCents: number): Promise<void> {
    await this.#post(Array.from({ length: this.#markets }, (_, market) => [market, bidCents]));
  }

  /** Markets drawn at random, at a rate, until `stop`. */
  start(quotesPerSecond: number): void {
    this.#isRunning = true;
    this.#running = this.#run(quotesPerSecond);
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    await this.#running;
  }

  async #run(quotesPerSecond: number): Promise<void> {
    const startedMs = performance.now();
    let sent = 0;
    while (this.#isRunning) {
      const due = Math.floor(((performance.now() - startedMs) / 1000) * quotesPerSecond) - sent;
      const drawn = Array.from({ length: due }, (): [number, number] => [
        this.#random.below(this.#markets),
        20 + this.#random.below(60),
      ]);
      if (due > 0) await this.#post(drawn);
      sent += due;
      await sleep(SLICE_MS);
    }
  }

  async #post(quotes: readonly [market: number, bidCents: number][]): Promise<void> {
    const at = new Date().toISOString();
    const sizes = { yesBidContracts: 10, yesAskContracts: 10 };
    const lines = quotes.map(([market, yesBidCents]) => {
      const prices = { yesBidCents, yesAskCents: yesBidCents + 3, ...sizes };
      const frame = { type: 'quote', seq: ++this.#seq, market: `BENCH-${market}`, ...prices };
      return JSON.stringify({ at, venue: 'venue_a', adapter: 'native', frame });
    });
    const { adminUrl, adminToken } = this.#server;
    const headers = { authorization: `Bearer ${adminToken}` };
    const body = lines.join('\n');
    const answer = await fetch(`${adminUrl}/admin/playback`, { method: 'POST', headers, body });
    if (answer.status !== 200) throw new Error(`quotes were refused: ${await answer.text()}`);
  }
}
