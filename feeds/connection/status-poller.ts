/**
 * Asks a venue's REST API for missed statuses and results of markets. Markets that may be over
 * are asked for until they have a result. Ends that cannot be used are kept for operators. Rules
 * W15, W70, W71, W75, W91, W102, W104 to W107, W109 to W112, W116, W118 (feeds/FORMATS.md).
 */

import type {
  AnswerTick,
  ClosingTick,
  StateRequest,
  StateTick,
  UnreadTick,
  VenueAdapter,
  VenueTick,
} from '../reading/venue.ts';
import { ChannelWords } from './channel-words.ts';
import { safeUrlOf } from './endpoint.ts';
import { type AskOptions, askRest, QuestionRefused } from './rest.ts';

/** How often a market that has stopped is asked for its result, and a failure is retried. */
const AGAIN_MS = 60_000;
/** Questions under way at a time: venues count requests. */
const AT_ONCE = 4;
/** Questions of a round that are asked again in halves: a venue may refuse them all. */
const HALVINGS_MAX = 100;
/** How often, within that time, held markets are checked. */
const LOOKS = 12;
/** No money depends on a market that nobody holds: it is asked for as many times less often. */
const UNHELD_TIMES = 5;
/** A market of which its venue says nothing is asked for after so many parts of its silence. */
const PARTS_OF_SILENCE = 10;
const SILENT_PAUSE_MAX_MS = 24 * 3_600_000;
/** A venue that tells no result for so long may never tell one. */
const LATE_MS = 24 * 3_600_000;
const NAMES_SHOWN = 5;
/** The limit of lines of one kind. */
const LOGGED_MAX = 100;

export type MissedStatesOptions = {
  /** The base of the REST API; null: there is none, and nothing is asked for. */
  base: URL | null;
  requests: VenueAdapter['stateRequests'];
  /** Whether the venue's channel tells each result. */
  tellsResults: boolean;
  /** Whether the frames of its channel repeat the status of their market. */
  repeatsStatus?: boolean;
  /** The words of the channels of the venue, shared by its feeds; left out: there is one feed. */
  words?: ChannelWords;
  /** The markets that accounts hold or have orders on; true: it may be over by the catalog. */
  held(): ReadonlyMap<string, boolean>;
  /** Markets that nobody holds and that have started; true: it may be over by the catalog. */
  unheld?(): ReadonlyMap<string, boolean>;
  /** Markets with a result that their venue has not told since the start. */
  untold(): ReadonlySet<string>;
  /** Another feed of the venue asks for the same markets. */
  othersAsk?: boolean;
  /** Whether the market has no result yet. */
  isOpen(market: string): boolean;
  take(ticks: readonly StateTick[]): void;
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
  againMs?: number;
  /** A held market that is closed for so long is shown; a day when left out. */
  lateMs?: number;
  /** A clock that nobody sets; `performance.now` when left out. */
  steadyMs?(): number;
  rest?: AskOptions;
};

export class StatusPoller {
  readonly #options: MissedStatesOptions;
  readonly #abort = new AbortController();
  /** Asked for while a round is under way, or to be asked for again. */
  #waiting = new Set<string>();
  readonly #words: ChannelWords;
  /** The place in the channels' words at which the questions under way began. */
  #askedPlace = 0;
  /** Markets that have stopped and have no result yet; since when, on the steady clock. */
  readonly #stopped = new Map<string, number>();
  /** Markets whose result the venue may still change. */
  readonly #provisional = new Set<string>();
  /** Markets with a bid and an ask on an open connection. */
  readonly #priced = new Set<string>();
  /** Of these markets the channel and the answers have not said the same of whether they are open. */
  readonly #contested = new Set<string>();
  /** When each held market was asked for last, on the steady clock. */
  readonly #askedMs = new Map<string, number>();
  /** By market, why an end that its venue told cannot be paid. */
  readonly #unusable = new Map<string, string>();
  /** By market, the word with which its venue doubts the result. */
  readonly #doubts = new Map<string, string>();
  /** By market, the unknown word by which its venue named its state last. */
  readonly #unread = new Map<string, string>();
  /** Words that a log line has named. */
  readonly #loggedWords = new Set<string>();
  /** Markets that the last answer to their question did not name. */
  readonly #unnamed = new Set<string>();
  /** Of these markets an answer has said nothing, and neither has anything since; since when. */
  readonly #silentMs = new Map<string, number>();
  /** The venue refuses a question that names one of these, and answers others. */
  readonly #refused = new Set<string>();
  readonly #steadyMs: () => number;
  readonly #looks: NodeJS.Timeout;
  #isAsking = false;
  #timer: NodeJS.Timeout | undefined;
  #problem: string | null = null;

  constructor(options: MissedStatesOptions) {
    this.#options = options;
    this.#words = options.words ?? new ChannelWords();
    this.#steadyMs = options.steadyMs ?? (() => performance.now());
    const everyMs = (options.againMs ?? AGAIN_MS) / LOOKS;
    this.#looks = setInterval(() => this.#askHeld(), everyMs);
    this.#looks.unref();
  }

  /** Asks for these markets now, or after the markets that are asked for already. */
  ask(markets: readonly string[]): void {
    if (!this.#canAsk) return;
    for (const market of markets) this.#waiting.add(market);
    if (!this.#isAsking && !this.#abort.signal.aborted) void this.#askAll();
  }

  /** A connection has missed their states, or has said what answers must confirm. */
  missed(markets: readonly string[]): void {
    if (!this.#canAsk) return;
    for (const market of markets) this.#contested.add(market);
    this.ask(markets);
  }

  /** The feed no longer follows the market. A result that may change is still asked for. */
  left(market: string): void {
    this.#words.forget(market);
    const kept = [this.#stopped, this.#priced, this.#contested, this.#unread];
    for (const all of [...kept, this.#silentMs, this.#refused]) all.delete(market);
  }

  /** Why the last question failed, without its address; null: it was answered. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Results that an operator must know of, one line each, with only a few names per line. */
  problems(): string[] {
    const { isOpen } = this.#options;
    const unusable = [...this.#unusable].filter(([market]) => isOpen(market));
    const held = this.#options.held();
    const unnamed = [...this.#unnamed].filter((market) => held.has(market) && isOpen(market));
    const lateMs = performance.now() - (this.#options.lateMs ?? LATE_MS);
    const late = [...this.#stopped].filter(([market, sinceMs]) => {
      return sinceMs <= lateMs && held.has(market) && isOpen(market);
    });
    const unread = [...this.#unread].filter(([market]) => isOpen(market));
    const doubts = [...this.#doubts].filter(([market]) => !isOpen(market));
    return [
      ...lineOf(this.#untold(), 'held, and their end cannot be known without a restUrl'),
      ...lineOf(unnamed, 'held, and not named by their venue when it is asked'),
      ...lineOf(
        late.flatMap(([market]) => (this.#unusable.has(market) ? [] : market)),
        'held, and closed for a day without a result; paperbook admin settle gives one',
      ),
      ...lineOf(
        unusable.map(([market, reason]) => `${market} (${reason})`),
        'over without a result that can be paid; paperbook admin settle gives one',
      ),
      ...lineOf(
        unread.map(([market, word]) => `${market} (${word})`),
        'in a state that its venue names by an unknown word',
      ),
      ...lineOf(
        doubts.map(([market, word]) => `${market} (${word})`),
        'paid, and their venue doubts the result',
      ),
    ];
  }

  /** A connection was lost: its markets have no price. */
  lost(markets: Iterable<string>): void {
    for (const market of markets) this.#priced.delete(market);
  }

  /** The ticks that arrived by a connection. */
  saw(ticks: readonly VenueTick[]): void {
    const { repeatsStatus = false } = this.#options;
    for (const tick of ticks) {
      if (this.#silentMs.size > 0 && tick.kind !== 'game') this.#silentMs.delete(tick.market);
      if (tick.kind === 'book') {
        if (tick.yesBid === null || tick.yesAsk === null) this.#priced.delete(tick.market);
        else this.#priced.add(tick.market);
        continue;
      }
      if (tick.kind === 'unread') {
        this.#words.unheard(tick.market);
        this.#noteUnread(tick);
        continue;
      }
      if (tick.kind !== 'status' && tick.kind !== 'result') continue;
      if (!repeatsStatus) this.#words.saw(tick);
      this.#contested.delete(tick.market);
      this.#follow(tick);
    }
  }

  close(): void {
    clearTimeout(this.#timer);
    clearInterval(this.#looks);
    this.#abort.abort();
  }

  get #canAsk(): boolean {
    return this.#options.base !== null && this.#options.requests !== null;
  }

  /**
   * Each at latest every `againMs`: markets that are due before the next check are asked for now.
   */
  #askHeld(): void {
    if (!this.#canAsk || this.#isAsking) return;
    const againMs = this.#options.againMs ?? AGAIN_MS;
    const { isOpen } = this.#options;
    const held = this.#options.held();
    const unheld = this.#options.unheld?.() ?? NOTHING;
    const untold = this.#options.untold();
    for (const market of this.#askedMs.keys()) {
      if (held.has(market) || unheld.has(market) || untold.has(market)) continue;
      if (this.#provisional.has(market) || this.#contested.has(market)) continue;
      this.#askedMs.delete(market);
      this.#silentMs.delete(market);
    }
    const nowMs = this.#steadyMs();
    const isAfter = (market: string, pauseMs: number) => {
      const askedMs = this.#askedMs.get(market) ?? Number.NEGATIVE_INFINITY;
      return askedMs <= nowMs - pauseMs + againMs * (2 / LOOKS);
    };
    const isDue = (market: string) => isAfter(market, againMs);
    const isSeldomDue = (market: string) => isAfter(market, againMs * UNHELD_TIMES);
    const isDueBySilence = (market: string) => {
      return isSeldomDue(market) && isAfter(market, this.#silentPauseMs(market, nowMs));
    };
    const paid = [...this.#provisional].filter((market) => !isOpen(market));
    const due = [
      ...[...this.#heldAndMaybeOver(), ...paid, ...this.#contested].filter(isDue),
      ...this.#unheldAndMaybeOver(unheld).filter((market) => {
        // A venue that names only what it has settled does know the others.
        return this.#unnamed.has(market) ? isDueBySilence(market) : isSeldomDue(market);
      }),
      ...[...untold].filter(isDueBySilence),
    ];
    if (due.length > 0) this.ask(due);
  }

  /** The longer its venue says nothing of a market, the less will it. */
  #silentPauseMs(market: string, nowMs: number): number {
    const silentMs = nowMs - (this.#silentMs.get(market) ?? nowMs);
    return Math.min(silentMs / PARTS_OF_SILENCE, SILENT_PAUSE_MAX_MS);
  }

  /** A venue whose channel tells each result has said it of a market that is not over. */
  #unheldAndMaybeOver(unheld: ReadonlyMap<string, boolean>): string[] {
    const { tellsResults, isOpen } = this.#options;
    return [...unheld].flatMap(([market, isOver]) => {
      return (isOver || !tellsResults) && isOpen(market) ? market : [];
    });
  }

  #heldAndMaybeOver(): string[] {
    const { tellsResults, isOpen, held } = this.#options;
    return [...held()].flatMap(([market, isOver]) => {
      const mayBeOver = !tellsResults || isOver || !this.#priced.has(market);
      return mayBeOver && isOpen(market) ? market : [];
    });
  }

  /** Held markets that may be over, if the channel may not tell it and nobody is asked. */
  #untold(): string[] {
    const { tellsResults, requests, isOpen, held, othersAsk = false } = this.#options;
    // Without a REST API its channel tells every state again after a loss.
    if (this.#canAsk || requests === null || othersAsk) return [];
    return [...held()].flatMap(([market, isOver]) => {
      return (!tellsResults || isOver) && isOpen(market) ? market : [];
    });
  }

  async #askAll(): Promise<void> {
    this.#isAsking = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const failed = new Set<string>();
    while (this.#waiting.size > 0) {
      const untold = this.#options.untold();
      const markets = [...this.#waiting].filter((market) => {
        const isFinal = !this.#options.isOpen(market) && !untold.has(market);
        if (isFinal) this.#contested.delete(market);
        return !isFinal || this.#provisional.has(market);
      });
      this.#waiting.clear();
      this.#askedPlace = this.#words.place;
      await this.#askRound(markets, failed);
    }
    this.#isAsking = false;
    if (this.#abort.signal.aborted) return;
    for (const market of [...failed, ...this.#stopped.keys()]) this.#waiting.add(market);
    this.#planRound();
  }

  async #askRound(markets: readonly string[], failed: Set<string>): Promise<void> {
    const requests = this.#requestsFor(markets);
    const askedMs = this.#steadyMs();
    const silent = new Set(requests.filter(namesAll).flatMap((request) => request.markets));
    const unheard = new Set(requests.flatMap((request) => request.markets));
    for (const market of markets) this.#askedMs.set(market, askedMs);
    const refused = new Map<string, Refusal>();
    let halvings = HALVINGS_MAX;
    let isAnswered = false;
    const fail = (market: string) => {
      failed.add(market);
      silent.delete(market);
      unheard.delete(market);
    };
    const askSome = async () => {
      for (let next = requests.shift(); next !== undefined; next = requests.shift()) {
        const { url, markets: named, about } = next;
        try {
          const options = { ...this.#options.rest, signal: this.#abort.signal };
          const ticks = next.read(await askRest(url, options));
          for (const { market } of ticks) {
            silent.delete(market);
            unheard.delete(market);
            for (const all of [this.#silentMs, this.#refused]) all.delete(market);
          }
          this.#take(ticks);
          this.#noteSuccess();
          isAnswered = true;
        } catch (error) {
          if (this.#abort.signal.aborted) return;
          const isRefused = error instanceof QuestionRefused && about !== undefined;
          if (isRefused && named.length === 1) refused.set(named[0]!, { error, url });
          else if (isRefused && halvings > 0) {
            halvings--;
            const half = Math.ceil(named.length / 2);
            requests.unshift(about(named.slice(0, half)), about(named.slice(half)));
          } else {
            for (const market of named) fail(market);
            this.#noteFailure(error as Error, url);
          }
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, askSome));
    for (const [market, { error, url }] of refused) {
      // If the venue answers the others, it does not know this one.
      if (isAnswered) this.#refused.add(market);
      if (this.#refused.has(market)) continue;
      fail(market);
      this.#noteFailure(error, url);
    }
    for (const market of markets) this.#unnamed.delete(market);
    for (const market of silent) this.#unnamed.add(market);
    for (const market of unheard) {
      if (!this.#silentMs.has(market)) this.#silentMs.set(market, askedMs);
    }
  }

  /** A market that the venue has refused is asked for alone. */
  #requestsFor(markets: readonly string[]): StateRequest[] {
    const { base, requests } = this.#options;
    const all = [
      markets.filter((market) => !this.#refused.has(market)),
      ...markets.flatMap((market) => (this.#refused.has(market) ? [[market]] : [])),
    ];
    return all.flatMap((some) => (some.length === 0 ? [] : [...requests!(base!, some)]));
  }

  #take(ticks: readonly AnswerTick[]): void {
    if (this.#abort.signal.aborted) return;
    const news: StateTick[] = [];
    for (const tick of ticks) {
      if (tick.kind === 'unread') {
        this.#noteUnread(tick);
        continue;
      }
      if (!this.#isNews(tick)) continue;
      news.push(tick);
      this.#follow(tick);
      if (tick.kind !== 'status') continue;
      if (tick.status === 'open') this.#contested.delete(tick.market);
      else {
        this.#words.stoppedByAnswer(tick.market);
        if (this.#words.statusOf(tick.market) === 'open') this.#contested.add(tick.market);
      }
    }
    this.#options.take(news);
  }

  /** Whether nothing says that the answer is older than the market's state as it is known. */
  #isNews(tick: StateTick): boolean {
    const { kind, market } = tick;
    if (kind === 'result') {
      if (!this.#words.isDoubted(market, this.#askedPlace)) return true;
      // The result that is doubted, or the one after the doubt: the next answer tells.
      this.#waiting.add(market);
      return false;
    }
    const told = this.#words.statusOf(market);
    if (this.#words.isNewer(market, this.#askedPlace)) {
      // It may be the newer one all the same: the next answer tells.
      const mayBeStopped = kind === 'status' && tick.status !== 'open' && told === 'open';
      if (mayBeStopped) this.#waiting.add(market);
      return mayBeStopped;
    }
    if (kind === 'closing' || tick.status === 'closed') return true;
    if (told === 'closed' || this.#words.wasStopped(market, this.#askedPlace)) return false;
    if (tick.status !== 'open' || told !== 'paused') return true;
    const isSure = this.#words.ageMs(market) >= (this.#options.againMs ?? AGAIN_MS);
    if (!isSure) this.#contested.add(market);
    return isSure;
  }

  /** A stopped market gets a result some time, and not every venue announces it. */
  #follow(tick: StateTick): void {
    const { market } = tick;
    if (tick.kind === 'closing') return;
    this.#note(tick);
    this.#unread.delete(market);
    if (tick.kind === 'result') this.#contested.delete(market);
    if (tick.kind !== 'status' || tick.status !== 'closed') this.#stopped.delete(market);
    else if (this.#options.isOpen(market)) {
      if (!this.#stopped.has(market)) this.#stopped.set(market, performance.now());
      if (this.#isAsking) return;
      this.#waiting.add(market);
      this.#planRound();
    }
  }

  #note(tick: Exclude<StateTick, ClosingTick>): void {
    const { market } = tick;
    if (tick.kind === 'result') {
      this.#words.ended(market);
      this.#unusable.delete(market);
      this.#doubts.delete(market);
      this.#priced.delete(market);
      if (tick.provisional) this.#provisional.add(market);
      else this.#provisional.delete(market);
      return;
    }
    if (tick.doubt !== undefined) {
      this.#doubts.set(market, tick.doubt);
      this.#provisional.add(market);
    }
    if (tick.unusable !== undefined) {
      const { log, isOpen } = this.#options;
      const isNews = this.#unusable.get(market) !== tick.unusable && isOpen(market);
      this.#unusable.set(market, tick.unusable);
      if (!isNews || this.#unusable.size > LOGGED_MAX) return;
      log.warn({ market, reason: tick.unusable }, 'a market is over without a usable result');
    } else if (tick.status !== 'closed') this.#unusable.delete(market);
  }

  #noteUnread({ market, word }: UnreadTick): void {
    this.#unread.set(market, word);
    if (this.#loggedWords.has(word) || this.#loggedWords.size >= LOGGED_MAX) return;
    this.#loggedWords.add(word);
    this.#options.log.warn(
      { market, word },
      'a venue names the state of a market by an unknown word',
    );
  }

  #planRound(): void {
    if (this.#waiting.size === 0) return;
    this.#timer ??= setTimeout(() => this.ask([]), this.#options.againMs ?? AGAIN_MS);
  }

  /** @param url of the question */
  #noteFailure(error: Error, url: URL): void {
    const wasNone = this.#problem === null;
    this.#problem = error.message.replace(`${safeUrlOf(url)}: `, '');
    if (!wasNone) return;
    const rest = safeUrlOf(this.#options.base!);
    this.#options.log.warn({ rest, reason: error.message }, 'missed results cannot be asked for');
  }

  #noteSuccess(): void {
    if (this.#problem === null) return;
    this.#problem = null;
    const rest = safeUrlOf(this.#options.base!);
    this.#options.log.info({ rest }, 'missed results can be asked for again');
  }
}

type Refusal = { error: Error; url: URL };
const NOTHING: ReadonlyMap<string, boolean> = new Map();
const namesAll = (request: StateRequest) => request.namesAll;

/** No question without markets. */
function lineOf(markets: readonly string[], what: string): string[] {
  if (markets.length === 0) return [];
  const names = markets.slice(0, NAMES_SHOWN).join(', ');
  const more = markets.length > NAMES_SHOWN ? ', ...' : '';
  return [`${markets.length} market${markets.length === 1 ? '' : 's'} ${what}: ${names}${more}`];
}
