/** The top of book that a row has. Rule H2 (api/RULES.md). */
import type { QuoteTick } from '../rules/messages.ts';
import { NO_PRICE } from '../rules/units.ts';

/** The top of book that a row has; without a price it is not live. */
export type Top = Readonly<
  Pick<QuoteTick, 'yesBidCents' | 'yesAskCents' | 'yesBidContracts' | 'yesAskContracts'>
>;

export const NOT_LIVE: Top = {
  yesBidCents: NO_PRICE,
  yesAskCents: NO_PRICE,
  yesBidContracts: 0,
  yesAskContracts: 0,
};

export const isLiveTop = ({ yesBidCents, yesAskCents }: Top): boolean =>
  yesBidCents !== NO_PRICE || yesAskCents !== NO_PRICE;

export function isSameTop(a: Top, b: Top): boolean {
  return (
    a.yesBidCents === b.yesBidCents &&
    a.yesAskCents === b.yesAskCents &&
    a.yesBidContracts === b.yesBidContracts &&
    a.yesAskContracts === b.yesAskContracts
  );
}
