/**
 * The past of a new demo: the simulated games of the last days, played on the feed's clock through
 * the server's own market data and shards, with orders of the demo's bots. It is made in
 * DATA_DIR/demo/past, and moved into the data directory once it is complete. So a start that is
 * killed leaves either nothing or a move that the next start finishes. Rules U33, U36
 * (api/RULES.md), N24 (feeds/FORMATS.md).
 */
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { type EpochMs, isoOf, type Uuid } from '../../engine/base/units.ts';
import type { CatalogFile } from '../../feeds/catalog/catalog-schema.ts';
import { catalogFileOf, SIM_VENUES, type SimVenue } from '../../feeds/simulator/catalog-file.ts';
import { numberedText, prepare } from '../../feeds/simulator/client.ts';
import { createModel, type Model, type NativeFrame } from '../../feeds/simulator/model.ts';
import { type Schedule, type SimGame, scheduleUntil } from '../../feeds/simulator/schedule.ts';
import { CleanupStack } from '../base/cleanup-stack.ts';
import type { Log } from '../base/logger.ts';
import { newOrderId } from '../base/uuid.ts';
import { openCatalogFiles, readOwnCatalog } from '../catalog/live-catalog.ts';
import type { Config } from '../config/settings.ts';
import { readChecked, writeChecked } from '../data-dir/checked-file.ts';
import { type DataDir, openDataDir } from '../data-dir/data-dir.ts';
import { replaceFile, syncPath } from '../data-dir/directory-files.ts';
import { makeDirectory } from '../data-dir/private-files.ts';
import { openData } from '../identity/open-data.ts';
import type { User } from '../identity/users.ts';
import { startMarketData } from '../market-data/start-market-data.ts';
import { placeOrderOf, readOrderBody } from '../operations/order-request.ts';
import { startShards } from '../ops/start-shards.ts';
import type { OrderBody } from '../schemas/order-body.ts';
import { BOTS, botUsers, buyOf, type Held, type Seen, saleOf, seenOf } from './demo-bots.ts';

const DAY_MS = 24 * 3_600_000;
const MINUTE_MS = 60_000;
/** The games of so many days are played. */
export const PAST_DAYS = 3;
/** Express games are played from then on. */
const EXPRESS_PAST_MS = 45 * MINUTE_MS;

/** The games of a demo that has a past; its first start is so many days ago. */
export function scheduleWithPast(seed: number, nowMs: EpochMs): Schedule {
  const firstStartMs = nowMs - PAST_DAYS * DAY_MS;
  return { seed, firstStartMs, longGames: 9, expressSinceMs: nowMs - EXPRESS_PAST_MS };
}

const SEED = 1;
const STATE = 'demo/simulator.json';
/** What a directory has that no server has used yet. */
const OF_A_NEW_ONE = ['paperbook.json', 'server.lock', 'demo', 'lost+found'];

/**
 * Gives a new data directory its past. A directory that a server has used stays as it is. So does
 * one whose past is complete.
 */
export async function givePast(
  config: Config,
  dataDir: DataDir,
  { isWanted, log }: { isWanted: boolean; log: Log },
): Promise<void> {
  const made = path.join(dataDir.path, 'demo/past');
  const isComplete = existsSync(path.join(made, STATE));
  if (isComplete && moves(made, dataDir.path)) return;
  rmSync(made, { recursive: true, force: true });
  if (!isWanted || !isNew(dataDir.path)) return;
  const untilMs = Date.now();
  const schedule = scheduleWithPast(SEED, untilMs);
  const { shards } = dataDir;
  await makePast({ ...config, dataDir: made }, { schedule, untilMs, shards, log });
  moves(made, dataDir.path);
}

function isNew(dataDir: string): boolean {
  return (
    readdirSync(dataDir).every((name) => OF_A_NEW_ONE.includes(name)) &&
    readChecked(dataDir, STATE) === undefined
  );
}

/**
 * Moves a complete past, its state last. A move that was cut off goes on. False: a server has used
 * the directory meanwhile, and nothing was moved.
 */
function moves(from: string, to: string): boolean {
  const names = readdirSync(from).filter((name) => !['server.lock', 'demo'].includes(name));
  const isTaken = (name: string) => name !== 'paperbook.json' && existsSync(path.join(to, name));
  if (names.some(isTaken)) return false;
  // A server refuses shards without their users.
  const place = (name: string) => (name === 'control' ? 2 : name.startsWith('shard-') ? 0 : 1);
  names.sort((a, b) => place(a) - place(b));
  for (const name of [...names, STATE]) renameSync(path.join(from, name), path.join(to, name));
  syncPath(to);
  syncPath(path.join(to, 'demo'));
  rmSync(from, { recursive: true });
  return true;
}

type PastOf = { schedule: Schedule; untilMs: EpochMs; shards: number; log: Log };

/** Makes the past in the directory of the settings, which is new. */
export async function makePast(
  settings: Config,
  { schedule, untilMs, shards, log }: PastOf,
): Promise<void> {
  makeDirectory(path.join(settings.dataDir, 'demo'));
  const games = scheduleUntil(schedule, untilMs);
  const catalogFile = path.join(settings.dataDir, 'demo/catalog.json');
  const catalog = catalogFileOf(games, schedule.firstStartMs);
  replaceFile(catalogFile, JSON.stringify(catalog));
  const dataDir = await openDataDir(settings.dataDir, { wanted: shards, byDefault: shards });
  const config: Config = {
    ...settings,
    ...{ catalogFile, clock: 'feed', feeds: [], discover: [], organizationsUrl: null, tls: null },
    // Between two steps of the past a quote stays.
    quoteMaxAgeMs: DAY_MS,
    // Its files are synced together once it is complete.
    durability: 'commit',
  };
  const stack = new CleanupStack();
  stack.add(() => dataDir.release());
  try {
    const start = { config, dataDir, log, stack };
    const catalogFiles = openCatalogFiles(await readOwnCatalog(catalogFile), settings.dataDir);
    const data = await openData(start);
    const users = await botUsers(data.identity, schedule.firstStartMs);
    const started = await startShards({ ...start, ...data, listeners: 1 });
    started.engine.tick({ kind: 'time', atMs: schedule.firstStartMs });
    const { playback } = await startMarketData({ ...start, ...data, ...started, catalogFiles });
    await new Past({
      schedule,
      games,
      catalog,
      users,
      engine: started.engine,
      playback,
      config,
    }).play(untilMs);
    playback.close();
    await started.engine.drained();
  } finally {
    await stack.unwind();
  }
  for (const file of readdirSync(settings.dataDir, { recursive: true, encoding: 'utf8' })) {
    syncPath(path.join(settings.dataDir, file));
  }
  writeChecked(settings.dataDir, STATE, schedule);
}

type Started = Awaited<ReturnType<typeof startShards>>;
type Playback = Awaited<ReturnType<typeof startMarketData>>['playback'];

type PastParts = {
  schedule: Schedule;
  games: readonly SimGame[];
  catalog: CatalogFile;
  users: readonly User[];
  engine: Pick<Started['engine'], 'call' | 'nowMs'>;
  playback: Pick<Playback, 'take'>;
  config: Pick<Config, 'fillModel'>;
};

/** A market of the catalog with its game. */
type Market = {
  game: SimGame;
  ticker: string;
  polarity: 1 | -1;
  seen: ReturnType<typeof seenOf>;
};

/** The steps of the past, while no game is on and while one is; the last day has finer ones. */
const EARLIER = { quietMs: 60 * MINUTE_MS, playMs: 15 * MINUTE_MS };
const LAST_DAY = { quietMs: 30 * MINUTE_MS, playMs: 10 * MINUTE_MS };
/** Express games are over within minutes. */
const END = { lastsMs: 30 * MINUTE_MS, stepMs: 2 * MINUTE_MS };
/** So many lines are sent together while no bot trades. */
const LINES_AHEAD_MAX = 2000;

type PastOrder = { bot: number; order: OrderBody; one: Seen };

class Past {
  readonly #parts: PastParts;
  readonly #venues: { venue: SimVenue; model: Model }[];
  readonly #markets: Market[];
  /** By bot: the questions that it has bought, and its open positions. */
  readonly #bought = BOTS.map(() => new Set<string>());
  readonly #held = BOTS.map(() => new Map<Uuid, Held>());
  #sequence = 0;

  constructor(parts: PastParts) {
    this.#parts = parts;
    const { schedule, games, catalog, config } = parts;
    const options = { depth: config.fillModel === 'book_depth', pauses: false };
    this.#venues = SIM_VENUES.map((venue) => ({
      venue,
      model: createModel(schedule, venue, schedule.firstStartMs, options),
    }));
    const bySlug = new Map(games.map((game) => [game.slug, game]));
    this.#markets = catalog.instruments.map(({ id, gameSlug, marketType, listings }) => {
      const game = bySlug.get(gameSlug!)!;
      const { venueMarketId: ticker, polarity } = listings[0]!;
      const seen = seenOf({ instrumentId: id!, gameSlug: gameSlug!, marketType, toStartMs: 0 });
      return { game, ticker, polarity, seen };
    });
  }

  async play(untilMs: EpochMs): Promise<void> {
    const { schedule, playback } = this.#parts;
    const { firstStartMs } = schedule;
    const first = this.#venues.map(({ venue, model }) => {
      const frames = model.markets().flatMap((market) => model.introduce(market)!);
      return this.#lines(venue, firstStartMs, frames);
    });
    const lines = first.flat();
    for (const atMs of this.#times(untilMs)) {
      for (const { venue, model } of this.#venues) {
        lines.push(...this.#lines(venue, atMs, [...model.step(atMs), { type: 'heartbeat' }]));
      }
      const orders = this.#ordersAt(atMs);
      if (orders.length === 0 && lines.length < LINES_AHEAD_MAX && atMs < untilMs) continue;
      await playback.take(lines.splice(0).join('\n'), 0);
      for (const { bot, order, one } of orders) await this.#trade(bot, order, one);
    }
  }

  /** Regular steps, and the moments at which a game changes. */
  #times(untilMs: EpochMs): EpochMs[] {
    const { firstStartMs } = this.#parts.schedule;
    const { games } = this.#parts;
    const times = new Set<EpochMs>([untilMs]);
    for (const game of games) {
      for (const atMs of [game.listedAtMs, game.startsAtMs, game.endsAtMs, game.resolvesAtMs]) {
        times.add(atMs);
      }
    }
    for (let atMs = firstStartMs; atMs < untilMs; ) {
      const isOn = games.some((game) => game.startsAtMs <= atMs && atMs < game.endsAtMs);
      const { quietMs, playMs } = untilMs - atMs > DAY_MS ? EARLIER : LAST_DAY;
      atMs += untilMs - atMs <= END.lastsMs ? END.stepMs : isOn ? playMs : quietMs;
      times.add(atMs);
    }
    return [...times]
      .filter((atMs) => atMs > firstStartMs && atMs <= untilMs)
      .sort((a, b) => a - b);
  }

  #lines(venue: SimVenue, atMs: EpochMs, frames: readonly NativeFrame[]): string[] {
    const at = isoOf(atMs);
    return frames.map((frame) => {
      const text = numberedText(prepare(frame), ++this.#sequence);
      return `{"at":"${at}","venue":"${venue}","adapter":"native","frame":${text}}`;
    });
  }

  /** The orders of all bots at a step, by the prices that are sent with it. */
  #ordersAt(atMs: EpochMs): PastOrder[] {
    const open = this.#markets.filter(({ game }) => {
      return game.listedAtMs + 1000 <= atMs && atMs < game.endsAtMs;
    });
    const seen = open.map((market) => this.#seen(market, atMs));
    const byId = new Map(seen.map((one) => [one.instrumentId, one]));
    return BOTS.flatMap((rule, bot) => {
      const held = [...this.#held[bot]!.values()];
      // What is no longer open is settled by its result.
      for (const { tradeId, instrumentId } of held) {
        if (!byId.has(instrumentId)) this.#held[bot]!.delete(tradeId);
      }
      const orders: PastOrder[] = [];
      const taken = new Set(this.#bought[bot]!);
      for (const one of seen) {
        if (taken.has(one.question)) continue;
        const order = buyOf(this.#parts.schedule.seed, rule, one);
        if (order === null) continue;
        taken.add(one.question);
        orders.push({ bot, order, one });
      }
      for (const position of held) {
        const one = byId.get(position.instrumentId);
        const order = one === undefined ? null : saleOf(rule, position, one);
        if (order !== null) orders.push({ bot, order, one: one! });
      }
      return orders;
    });
  }

  async #trade(bot: number, order: OrderBody, { question, instrumentId }: Seen): Promise<void> {
    const trade = await this.#place(bot, order);
    if (trade === null) return;
    const { tradeId, entryCents } = trade;
    if (order.side === undefined) {
      this.#held[bot]!.delete(tradeId);
      return;
    }
    this.#bought[bot]!.add(question);
    this.#held[bot]!.set(tradeId, { tradeId, entryCents, instrumentId, side: order.side });
  }

  #seen({ game, ticker, polarity, seen }: Market, atMs: EpochMs): Seen {
    const levels = this.#venues[0]!.model.levels(ticker)!;
    const [bid = null] = levels.yesBids[0] ?? [];
    const [ask = null] = levels.yesAsks[0] ?? [];
    const opposite = (cents: number | null) => (cents === null ? null : 100 - cents);
    return {
      ...seen,
      isInPlay: game.startsAtMs <= atMs,
      toStartMs: game.startsAtMs - atMs,
      yesBidCents: polarity === 1 ? bid : opposite(ask),
      yesAskCents: polarity === 1 ? ask : opposite(bid),
    };
  }

  /** The trade of the order; null: it was refused. */
  async #place(
    index: number,
    order: OrderBody,
  ): Promise<{ tradeId: Uuid; entryCents: number } | null> {
    const { engine, users } = this.#parts;
    const user = users[index]!;
    const { id: account } = user;
    const atMs = engine.nowMs();
    const command = placeOrderOf(readOrderBody(order), {
      ...{
        atMs,
        account,
        orderId: newOrderId(atMs),
        placedVia: 'api',
        placedPrivate: user.private,
      },
      ...{ connection: null, mayOpen: true, mayTrade: true, realism: null, counting: null },
    });
    const reply = await engine.call(account, command);
    return reply.ok ? JSON.parse(reply.body).trade : null;
  }
}
