/** The verdict on own picks in words. Rules A182, U53 (api/RULES.md). */
import type { Verdict } from '../../../client/generated.js';
import { counted } from '../../state/format.ts';

type Measure = { metric: 'clv' | 'pnl'; name: string; meaning: string };

/** The two measures, by their names in the API. */
export const MEASURES: Readonly<Record<Verdict['basis'], Measure>> = {
  clv: {
    metric: 'clv',
    name: 'Closing line value, after fees',
    meaning: 'A contract: the price just before the game, less what you paid and the fee.',
  },
  pnl_after_fees: {
    metric: 'pnl',
    name: 'Profit after fees',
    meaning: 'A pick, on average.',
  },
};

type Words = { head: string; text: string; kind: 'edge' | 'none' | 'open' };

export function verdictWords({ verdict, simpleOnly, games, gamesNeeded }: Verdict): Words {
  switch (verdict) {
    case 'edge':
      return simpleOnly
        ? {
            head: 'Your edge shows under simple fills alone',
            text: 'Your picks did better than luck explains. Those under realistic fills alone do not show it. Trade with realistic fills before you rely on it.',
            kind: 'open',
          }
        : {
            head: 'Your edge is real',
            text: 'Your picks did better than luck explains, after fees.',
            kind: 'edge',
          };
    case 'no_edge':
      return {
        head: 'There is no edge',
        text: 'Your picks did not do better than the market, or by so little that it does not matter.',
        kind: 'none',
      };
    case 'not_yet':
      return {
        head: 'It is too early to say',
        text:
          games === 0
            ? 'None of your picks has settled in this window. A pick counts when its market has a result.'
            : gamesNeeded === null
              ? 'One game says nothing about the next ones. Trade on more games.'
              : `Luck explains your ${counted(games, 'game')} as well. About ${counted(gamesNeeded, 'more game')} will tell, if you trade as you did.`,
        kind: 'open',
      };
    default:
      return verdict satisfies never;
  }
}

/** @param gamesNeeded null: the spread is not known yet */
export function neededText(gamesNeeded: number | null): string {
  return gamesNeeded === null
    ? 'It takes two games to see how much your results differ.'
    : 'If your edge is as it looks, so many tell in 80 of 100 cases.';
}
