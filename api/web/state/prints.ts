/** The latest prints of a market, as the history has them: a quote knows the last one alone. */
import { call } from './calls.ts';
import { type Loaded, Loader } from './loaded.ts';
import { type Print, printsOf, withPrints } from './print-text.ts';

type Printed = { rows: readonly Print[] };

/** So long before the last print one looks at first. */
const LOOKED_BACK_MS = 15 * 60_000;

const loader: Loader<[string, string], Printed> = new Loader(async (instrumentId, lastAt) => {
  const known = rowsOf(instrumentId);
  const from = known[0]?.at ?? new Date(Date.parse(lastAt) - LOOKED_BACK_MS).toISOString();
  const text = await call('exportHistory', {
    query: { instrumentId, venue: 'venue_a', dataset: 'trades', format: 'ndjson', from },
  });
  return { rows: withPrints(known, printsOf(text), from) };
});

export function shownPrints(instrumentId: string): Loaded<Printed> {
  return loader.of(instrumentId);
}

/** @param lastAt when the last one was, as the quote says */
export async function loadPrints(instrumentId: string, lastAt: string): Promise<void> {
  await loader.load(instrumentId, lastAt);
}

export function forgetPrints(): void {
  loader.clear();
}

function rowsOf(instrumentId: string): readonly Print[] {
  const now = loader.of(instrumentId);
  return now.state === 'ready' ? now.value.rows : [];
}
