/**
 * The stream of the page: one connection for quotes, games and the own account. Rules A119, A120
 * (api/RULES.md).
 */
import { effect, signal, untracked } from '@preact/signals';
import { RefusedError } from '../../client/errors.ts';
import type { Game } from '../../client/generated.js';
import { Stream } from '../../client/stream.ts';
import { streamParts } from '../../client/stream-parts.ts';
import type { Channel, StreamState } from '../../client/stream-types.ts';
import { forgetAccount, takeEvent, takePortfolio } from './account.ts';
import { API, call } from './calls.ts';
import { comebacks, isMissing } from './loaded.ts';
import { dismissAbsences } from './problems.ts';
import { type Further, QuoteCarriers } from './quote-carriers.ts';
import { dropQuote, forgetQuotes, quotesFrom, takeQuote } from './quotes.ts';
import { BASE } from './request.ts';
import { noteServerTime } from './server-time.ts';
import { leaveAsGuest, renew, session } from './session.ts';
import { venueData } from './venue-data.ts';
import { isVisitor } from './visitor.ts';

export type LiveConnection =
  | { state: 'off' }
  | { state: 'connecting' }
  | { state: 'open' }
  /** `untilMs`: when it is tried again, by this machine's clock. */
  | { state: 'waiting'; why: string; untilMs: number }
  /** It is not tried again. */
  | { state: 'refused'; why: string };

export const connection = signal<LiveConnection>({ state: 'off' });
/** Since when nothing is live, by this machine's clock; null: the connection is not lost. Rule A119. */
export const lostAtMs = signal<number | null>(null);

const ANSWERS_WITHIN_MS = 30_000;
/** While venue data is off: whether it is on again. */
const ASKED_AGAIN_MS = 15_000;
/** After a call without an answer, although the stream is open. */
const MISSING_ASKED_AGAIN_MS = 5000;

type GameListener = (games: readonly Game[]) => void;
const gameListeners = new Set<GameListener>();
let stream: Stream | null = null;
let carriers: QuoteCarriers | null = null;

/** Opens it whenever a person is signed in, or a visitor may look around. */
export function startLive(): void {
  effect(() => {
    const isOpen = session.value.state === 'in' || isVisitor.value;
    untracked(() => {
      close();
      if (isOpen) open(null);
    });
  });
  // A server that starts opens streams before it answers every call.
  effect(() => {
    if (!isMissing.value || lostAtMs.value !== null) return;
    const timer = setTimeout(comeBack, MISSING_ASKED_AGAIN_MS);
    return () => clearTimeout(timer);
  });
  // A pause between two attempts can be long; a network that is back need not wait for it.
  addEventListener('online', () => {
    if (connection.value.state !== 'waiting') return;
    const after = stream?.lastEventId ?? null;
    stream?.close();
    open(after);
  });
  setInterval(() => {
    if (venueData.value === false && document.visibilityState === 'visible') void askForSwitch();
  }, ASKED_AGAIN_MS);
}

/** Calls the listener with games that have changed; returns the function that ends that. */
export function onGames(listener: GameListener): () => void {
  gameListeners.add(listener);
  return () => gameListeners.delete(listener);
}

/** An answer says whether venue data is on. */
export function noteVenueData(isOn: boolean): void {
  const before = venueData.value;
  venueData.value = isOn;
  if (!isOn) forgetQuotes();
  else if (before === false && stream !== null) carryQuotes(stream);
}

function open(after: string | null): void {
  const opened = streamFrom(after);
  stream = opened;
  const isCurrent = () => stream === opened;
  opened.on('state', (state) => {
    if (isCurrent()) enter(state);
  });
  opened.on('quote', ({ quote, at }) => {
    noteServerTime(at);
    takeQuote(quote);
  });
  opened.on('portfolio', ({ portfolio, at }) => {
    noteServerTime(at);
    takePortfolio(portfolio);
    noteVenueData(portfolio.venueData);
  });
  opened.on('order', ({ event }) => takeEvent(event));
  opened.on('games', ({ games }) => passOn(games));
  opened.on('game', ({ game }) => passOn([game]));
  opened.on('ended', ({ channel, error }) => refusedChannel(channel, error));
  if (session.peek().state === 'in') subscribe(opened, 'orders');
  subscribe(opened, 'games');
  carryQuotes(opened);
}

function streamFrom(after: string | null): Stream {
  const baseUrl = new URL(API, BASE).href;
  const server = { baseUrl, credential: undefined, timeoutMs: ANSWERS_WITHIN_MS };
  return new Stream(streamParts(server, after === null ? {} : { after }));
}

function close(): void {
  stream?.close();
  stream = null;
  carriers?.end();
  carriers = null;
  connection.value = { state: 'off' };
  lostAtMs.value = null;
  quotesFrom({ open() {}, close() {} });
  forgetQuotes();
  forgetAccount();
}

function carryQuotes(first: Stream): void {
  carriers?.end();
  const made = new QuoteCarriers(carrierOf(first), () => furtherOf(made));
  carriers = made;
  quotesFrom(made);
}

function carrierOf(carrier: Stream) {
  return {
    open: (id: string) => subscribe(carrier, `quotes:${id}`),
    close: (id: string) => carrier.unsubscribe(`quotes:${id}`),
  };
}

/** The header shows the state of the first: where this one is lost, its prices are taken away. */
function furtherOf(of: QuoteCarriers): Further {
  const further = streamFrom(null);
  further.on('quote', ({ quote }) => takeQuote(quote));
  further.on('ended', ({ channel, error }) => refusedChannel(channel, error));
  further.on('state', ({ state }) => {
    if (of === carriers && (state === 'waiting' || state === 'closed')) forgetQuotes(of.byFurther);
  });
  return { ...carrierOf(further), end: () => further.close() };
}

/** A refusal that the stream itself retries is no refusal here. */
function subscribe(carrier: Stream, channel: Channel): void {
  const of = stream;
  carrier.subscribe(channel).catch((error: unknown) => {
    if (error instanceof RefusedError && of === stream) refusedChannel(channel, error);
  });
}

function refusedChannel(channel: Channel, error: RefusedError): void {
  if (error.code === 'venue_data_off') noteVenueData(false);
  if (error.code === 'instrument_not_found') dropQuote(channel.replace('quotes:', ''));
}

function passOn(games: readonly Game[]): void {
  for (const listener of gameListeners) listener(games);
}

function enter(state: StreamState): void {
  if (state.state === 'waiting') {
    lostAtMs.value ??= Date.now();
    const untilMs = Date.now() + state.retryInMs;
    connection.value = { state: 'waiting', why: state.error.message, untilMs };
  } else if (state.state !== 'closed') {
    connection.value = { state: state.state };
    if (state.state === 'open' && lostAtMs.value !== null) {
      lostAtMs.value = null;
      dismissAbsences();
      comeBack();
    }
  } else if (state.error !== null) void refused(state.error, stream?.lastEventId ?? null);
}

function comeBack(): void {
  isMissing.value = false;
  comebacks.value++;
}

/** The handshake is refused, and will be again with this access token. */
async function refused(error: Error, after: string | null): Promise<void> {
  connection.value = { state: 'refused', why: error.message };
  lostAtMs.value ??= Date.now();
  if (!(error instanceof RefusedError)) return;
  if (error.code === 'guest_account') return leaveAsGuest();
  const ended = stream;
  if (session.peek().state === 'out') return;
  if (error.status === 401 && (await renew()) && stream === ended) open(after);
}

async function askForSwitch(): Promise<void> {
  try {
    noteVenueData((await call('listInstruments', { query: { limit: 1 } })).venueData);
  } catch {
    // The connection's own state has the problem, so it is asked.
  }
}
