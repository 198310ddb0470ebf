/**
 * Quotes by instrument, as they arrive. They are put into signals together, at most ten times a
 * second.
 */
import { batch, type Signal, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Quote } from '../../client/generated.js';
import { Passes } from './passes.ts';
import { QUOTES_MAX } from './quote-carriers.ts';
import { QuoteSlots } from './quote-slots.ts';
import { nextShown, type ShownQuote, settled } from './shown-quote.ts';

const LINGER_MS = 3000;
/** A price that changes more often is not read, and each pass is a layout. */
const PASS_EVERY_MS = 100;
/** Marks of changes end together, so often. */
const MARKS_END_EVERY_MS = 300;

type Source = { open(id: string): void; close(id: string): void };

/** Instruments that no catalog lists any more: they have no quote. */
export const dropped = signal<ReadonlySet<string>>(new Set());

/** Never emptied: a component that is about to show one again has its signal already. */
const shown = new Map<string, Signal<ShownQuote | null>>();
/** The newest quote of each instrument since the last pass. */
const arrived = new Map<string, Quote>();
/** The quotes that have a mark of a change. */
const marked = new Set<string>();
let isMarksEndDue = false;
let source: Source = { open() {}, close() {} };

const slots = new QuoteSlots({
  max: QUOTES_MAX,
  lingerMs: LINGER_MS,
  open: (id) => source.open(id),
  close: (id) => {
    source.close(id);
    forgetQuotes([id]);
  },
  later: setTimeout,
});

const passes = new Passes(show, {
  everyMs: PASS_EVERY_MS,
  nowMs: () => performance.now(),
  later: setTimeout,
  frame: (run) => requestAnimationFrame(run),
});

/** The live quote of an instrument, for as long as the component exists; null: none arrived yet. */
export function useQuote(instrumentId: string | null): ShownQuote | null {
  useEffect(() => {
    return instrumentId === null ? undefined : slots.show(instrumentId);
  }, [instrumentId]);
  return instrumentId === null ? null : signalOf(instrumentId).value;
}

/** As `useQuote`, for several at once. */
export function useQuotes(instrumentIds: readonly (string | null)[]): (ShownQuote | null)[] {
  useEffect(() => {
    const ends = instrumentIds.flatMap((id) => (id === null ? [] : [slots.show(id)]));
    return () => {
      for (const end of ends) end();
    };
  }, [instrumentIds.join()]);
  return instrumentIds.map((id) => (id === null ? null : signalOf(id).value));
}

/** Shown quotes come from another stream from now on. */
export function quotesFrom(next: Source): void {
  source = next;
  slots.reopen();
}

export function takeQuote(quote: Quote): void {
  // A later catalog lists it again.
  if (dropped.value.has(quote.instrumentId)) {
    dropped.value = new Set([...dropped.value].filter((id) => id !== quote.instrumentId));
  }
  arrived.set(quote.instrumentId, quote);
  passes.request();
}

/** These prices are not live any more; without ids none is, as once venue data is off. */
export function forgetQuotes(ids: Iterable<string> = shown.keys()): void {
  batch(() => {
    for (const id of ids) {
      arrived.delete(id);
      signalOf(id).value = null;
    }
  });
}

/** No quote of it arrives any more. */
export function dropQuote(instrumentId: string): void {
  arrived.delete(instrumentId);
  batch(() => {
    signalOf(instrumentId).value = null;
    dropped.value = new Set([...dropped.value, instrumentId]);
  });
}

function show(nowMs: number): void {
  batch(() => {
    for (const [id, quote] of arrived) {
      const one = signalOf(id);
      one.value = nextShown(one.value, quote, nowMs);
      marked.add(id);
    }
    for (const id of marked) {
      const one = signalOf(id);
      if (one.value !== null) one.value = settled(one.value, nowMs);
      if (!isMarked(one.value)) marked.delete(id);
    }
  });
  arrived.clear();
  if (marked.size > 0 && !isMarksEndDue) endMarksLater();
}

function isMarked(shown: ShownQuote | null): boolean {
  return shown !== null && (shown.bidMove !== null || shown.askMove !== null);
}

function endMarksLater(): void {
  isMarksEndDue = true;
  setTimeout(() => {
    isMarksEndDue = false;
    passes.request();
  }, MARKS_END_EVERY_MS);
}

function signalOf(id: string): Signal<ShownQuote | null> {
  const known = shown.get(id);
  if (known !== undefined) return known;
  const made = signal<ShownQuote | null>(null);
  shown.set(id, made);
  return made;
}
