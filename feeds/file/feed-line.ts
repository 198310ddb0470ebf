/**
 * One line of a feed file. Rules F2 to F5, F30, F34 (feeds/FORMATS.md).
 */

import { NestedTooDeep, parseJson } from '../../engine/base/bounded-json.ts';
import { type EpochMs, VENUES, type Venue } from '../../engine/base/units.ts';
import { parseInstant } from '../reading/instant.ts';
import { ADAPTERS, type AdapterName } from '../reading/venue.ts';
import { TOO_LONG } from './line-splitter.ts';
import { readStates } from './states.ts';

/**
 * The events of a connection: it opened and subscribed, it subscribed to more markets, a frame
 * ended its prices, a heartbeat without a frame, its end; or statuses and results were asked for.
 */
export const FEED_EVENTS = ['open', 'subscribe', 'gap', 'heartbeat', 'lost', 'states'] as const;
export type FeedEvent = (typeof FEED_EVENTS)[number];

/** One line of a feed file; `line` counts from 1, the header. */
export type FeedLine = {
  line: number;
  atMs: EpochMs;
  venue: Venue;
  adapter: AdapterName;
  /** The number of the connection that it came by, where the file says so. */
  connection?: number;
  /** Its place among the lines of that connection, from 1. */
  seq?: number;
  /** Left out of a frame that came in its place. */
  event?: FeedEvent;
  /** The markets of an `open` or a `subscribe`, in the venue's own names. */
  markets?: readonly string[];
  /** Beside `markets`: the ticks of other markets are left out. */
  only?: readonly string[];
  /** For `states`: the input of `readStates`. */
  states?: readonly unknown[];
  /** Of the recordings that the file was put together from, which; only where they are told apart. */
  recording?: number;
  /** The venue's own message; undefined where `event` needs none. */
  frame: unknown;
};

/** Names the connection that a line came by. Rule F7 (feeds/FORMATS.md). */
export function connectionKeyOf({ venue, adapter, connection }: FeedLine): string {
  return connection === undefined ? `${venue} ${adapter}` : `${venue} ${adapter} ${connection}`;
}

/** `line 17: not JSON`; `line` is null when the file itself cannot be used. */
export class FeedFileError extends Error {
  override readonly name = 'FeedFileError';
  readonly line: number | null;
  /** The message without its line, a short stable phrase. */
  readonly reason: string;

  constructor(line: number | null, reason: string) {
    super(line === null ? reason : `line ${line}: ${reason}`);
    this.line = line;
    this.reason = reason;
  }
}

export const FEED_HEADER = { format: 'paperbook-feed', version: 1 } as const;

/** Of a file that was appended to another. Rule F32. */
export const HEADER_INSIDE =
  'a header inside the file (feed merge makes one file of the recordings)';

const VENUE_NAMES: ReadonlySet<unknown> = new Set(VENUES);
const ADAPTER_NAMES: ReadonlySet<unknown> = new Set(ADAPTERS);
const EVENT_NAMES: ReadonlySet<unknown> = new Set(FEED_EVENTS);

/** The line, or its problem; null for an empty line. */
export function readLine(line: number, text: string): FeedLine | string | null {
  if (text === TOO_LONG) return 'longer than 16 MiB';
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    if (error instanceof NestedTooDeep) return 'nested too deep';
    return text.trim() === '' ? null : 'not JSON';
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'not an object';
  const fields = value as Record<string, unknown>;
  const { at, venue, adapter, frame } = fields;
  if (at === undefined)
    return fields.format === FEED_HEADER.format ? HEADER_INSIDE : 'at is missing';
  const atMs = parseInstant(at);
  if (atMs === null) return 'at is not a date-time';
  if (venue === undefined) return 'venue is missing';
  if (!VENUE_NAMES.has(venue)) return `venue ${shown(venue)} is unknown`;
  if (adapter === undefined) return 'adapter is missing';
  if (!ADAPTER_NAMES.has(adapter)) return `adapter ${shown(adapter)} is unknown`;
  const place = { line, atMs, venue: venue as Venue, adapter: adapter as AdapterName };
  if (fields.event === undefined && fields.connection === undefined) {
    if (frame === undefined) return 'frame is missing';
    return typeof frame === 'string' ? unpacked(place, frame) : { ...place, frame };
  }
  return readRecorded(place, fields);
}

/**
 * Many recorders keep a message as text. Our own recorder does so only for a message that is no
 * JSON, to show it. Such a line names its connection.
 */
function unpacked(place: Omit<FeedLine, 'frame'>, text: string): FeedLine | string {
  try {
    return { ...place, frame: parseJson(text) };
  } catch (error) {
    return error instanceof NestedTooDeep ? 'nested too deep' : 'frame is a text that is not JSON';
  }
}

/** Fields that only a recorder writes. */
function readRecorded(
  place: Omit<FeedLine, 'frame'>,
  fields: Record<string, unknown>,
): FeedLine | string {
  const { connection, seq, event, frame } = fields;
  const read: FeedLine = { ...place, frame };
  if (connection !== undefined) {
    if (!isNumber(connection)) return 'connection is not a whole number above 0';
    read.connection = connection;
  }
  if (seq !== undefined) {
    if (!isNumber(seq)) return 'seq is not a whole number above 0';
    read.seq = seq;
  }
  if (event !== undefined) {
    if (!EVENT_NAMES.has(event)) return `event ${shown(event)} is unknown`;
    read.event = event as FeedEvent;
  }
  const problem = readLists(read, fields);
  if (problem !== null) return problem;
  const needsFrame = read.event === undefined || read.event === 'gap';
  if (needsFrame && frame === undefined) return 'frame is missing';
  return read;
}

/** The lists that some events have. @returns the problem of one of them, or null */
function readLists(read: FeedLine, fields: Record<string, unknown>): string | null {
  if (read.event === 'states') {
    if (!Array.isArray(fields.states)) return 'states is not a list';
    if (readStates(fields.states) === null) return 'states has an entry that cannot be read';
    read.states = fields.states;
  }
  if (read.event !== 'open' && read.event !== 'subscribe') return null;
  const { markets, only } = fields;
  if (!isNames(markets)) return 'markets is not a list of names';
  read.markets = markets;
  if (only === undefined) return null;
  if (!isNames(only)) return 'only is not a list of names';
  read.only = only;
  return null;
}

function isNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string');
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/** @throws FeedFileError when the text is not the first line of a feed file. */
export function checkHeader(text: string, line = 1): void {
  let header: { format?: unknown; version?: unknown } | null = null;
  try {
    header = parseJson(text) as { format?: unknown } | null;
  } catch {
    // The error below covers this: the line is not the header.
  }
  if (header?.format !== FEED_HEADER.format) {
    throw new FeedFileError(line, `the header ${JSON.stringify(FEED_HEADER)} is missing`);
  }
  if (header.version !== FEED_HEADER.version) {
    throw new FeedFileError(
      line,
      `version ${shown(header.version)} of the format is not supported`,
    );
  }
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'missing').slice(0, 60);
}
