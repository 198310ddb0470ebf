/** The shown data of a trader, and the reasons for missing data, in words. */
import type { Pick, SignedTrackRecord, Trader } from '../../../client/generated.js';
import { counted } from '../../state/format.ts';

export const RESULTS: Readonly<Record<Pick['result'], string>> = {
  won: 'Won',
  lost: 'Lost',
  void: 'Void',
};

/** Why numbers are not shown; null: they are. */
export function hiddenText({ private: isPrivate, numbersShown }: Trader, isOwn: boolean) {
  if (isPrivate) {
    return isOwn
      ? 'You are private: others see your name here and nothing else, and you are on no board.'
      : 'This trader is private: only the name is shown.';
  }
  if (numbersShown) return null;
  return isOwn
    ? 'You have trades from when you were private, and do not show them. So others see no profit or loss, ROI, net worth or rank of you. You are on no board.'
    : 'This trader has trades from when the account was private, and does not show them. So profit or loss, ROI, net worth and rank are not shown.';
}

/** `12 settled: 7 won, 4 lost, 1 void` */
export function picksText({ settledPicks, won, lost, void: voided }: Trader): string {
  return `${counted(settledPicks, 'pick')} settled: ${won} won, ${lost} lost, ${voided} void`;
}

/** The owner's private data of a pick; null: the viewer is not the owner. */
export function shownText({ placedPrivate, shown }: Pick): string | null {
  if (placedPrivate === undefined || shown === undefined) return null;
  const placed = placedPrivate ? 'Placed while you were private' : 'Placed while you were public';
  return `${placed}; ${shown ? 'others see it' : 'others do not see it'}.`;
}

export function labelText({ marketLabel, instrumentId }: Pick): string {
  if (marketLabel !== null) return marketLabel;
  return instrumentId === null
    ? 'No name: its market has left the catalog'
    : `No name: the catalog has none for ${instrumentId}`;
}

/** `track-record-TRADER-2026-11-24.json` */
export function recordFileName({ record }: SignedTrackRecord): string {
  return `track-record-${record.traderId}-${record.issuedAt.slice(0, 10)}.json`;
}
