/** The displayed levels of a market, which no stream sends. Rules A84, A85 (api/RULES.md). */
import type { Book } from '../../client/generated.js';
import { call } from './calls.ts';
import { type Loaded, Loader } from './loaded.ts';

const loader = new Loader((instrumentId: string) => {
  return call('getBook', { path: { ref: instrumentId } });
});

export function shownLadder(instrumentId: string): Loaded<Book> {
  return loader.of(instrumentId);
}

export async function loadLadder(instrumentId: string): Promise<void> {
  await loader.load(instrumentId);
}

export function forgetLadder(): void {
  loader.clear();
}
