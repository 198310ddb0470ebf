/** Who may be on a board, also of people whose account comes later. */
import test from 'ava';
import { Profiles } from '../../../../engine/records/store/profiles.ts';
import type { Traders } from '../../../../engine/records/store/traders.ts';
import { uuidOf } from '../../fixtures.ts';

test('Y23: whoever became private before the first account is on no board once it is opened', (t) => {
  const accounts = new Map<string, number>();
  const traders = {
    find: (id: string) => accounts.get(id),
    ids: { has: () => true },
    col: { private_trades: [0, 0] },
  } as unknown as Traders;
  const profiles = new Profiles(traders);
  const [ann, bob] = [uuidOf(1), uuidOf(2)];
  for (const id of [ann, bob]) profiles.set({ id, isPublic: true, showsEarlier: false });
  profiles.set({ id: ann, isPublic: false, showsEarlier: false });
  for (const [trader, id] of [ann, bob].entries()) {
    accounts.set(id, trader);
    profiles.opened(trader, id);
  }
  t.deepEqual([profiles.isListed(0), profiles.isListed(1)], [false, true]);
});
