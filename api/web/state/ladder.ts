/** The displayed levels of a market, which no stream sends. Rules A84, A85 (api/RULES.md). */
import { call } from './calls.ts';
import { Loader } from './loaded.ts';

const loader = new Loader((instrumentId: string) => {
  return call('getBook', { path: { ref: instrumentId } });
});
export const ladder = loader.now;

export async function loadLadder(instrumentId: string): Promise<void> {
  await loader.load(instrumentId);
}

export function forgetLadder(): void {
  loader.clear();
}
