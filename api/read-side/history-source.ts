/** Where the history is asked: in this server, at a service, or nowhere. Rule H20 (api/RULES.md). */

import type { MarketNumber, Venue } from '../../engine/base/units.ts';
import type {
  HistoryAnswer,
  MarketTops,
  Question,
  TopsQuestion,
} from '../../engine/history/questions.ts';
import type { Asker } from '../../engine/threads/fair-turns.ts';
import type { StreamedBody } from '../http/streamed-body.ts';

/** The history that this server records. Askers take turns (Q18). */
export type EmbeddedHistory = {
  kind: 'embedded';
  /** Rejects with `Unavailable` while it cannot be asked. */
  ask(asker: Asker, question: Question): Promise<HistoryAnswer>;
  /** Rejects as `ask` does. */
  tops(asker: Asker, question: TopsQuestion): Promise<MarketTops[]>;
  /** The number of a market that some catalog has named. */
  marketNumber(venue: Venue, ticker: string): MarketNumber | undefined;
};

/** A service that owns the questions: path and query go there unchanged. */
export type ForwardedHistory = {
  kind: 'forwarded';
  /** The bytes of a JSON answer. Throws the refusal. */
  json(path: string, query: string): Promise<Uint8Array>;
  /** Throws the refusal. */
  stream(path: string, query: string): Promise<StreamedBody>;
};

export type HistorySource = EmbeddedHistory | ForwardedHistory | { kind: 'off' };
