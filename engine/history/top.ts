/** The top of book that a row has. Rule H2 (api/RULES.md). */

import { NO_PRICE } from '../base/units.ts';
import type { QuoteTick } from '../rules/messages.ts';

export type ShownTop = Pick<
  QuoteTick,
  'yesBidCents' | 'yesAskCents' | 'yesBidContracts' | 'yesAskContracts'
>;
/** The top of book that a row has; without a price it is not live. */
export type Top = Readonly<ShownTop>;

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

export function copyOfTop({
  yesBidCents,
  yesAskCents,
  yesBidContracts,
  yesAskContracts,
}: Top): ShownTop {
  return { yesBidCents, yesAskCents, yesBidContracts, yesAskContracts };
}

/** Makes one top a copy of another, in place, because rows arrive many times a second. */
export function replaceTop(copy: ShownTop, top: Top): void {
  copy.yesBidCents = top.yesBidCents;
  copy.yesAskCents = top.yesAskCents;
  copy.yesBidContracts = top.yesBidContracts;
  copy.yesAskContracts = top.yesAskContracts;
}
