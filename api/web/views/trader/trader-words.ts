/** The shown data of a trader, and the reasons for missing data, in words. */
import type { Pick, SignedTrackRecord, Trader } from '../../../client/generated.js';
import { counted } from '../../state/format.ts';
import type { RecordCheck } from '../../state/record-check.ts';

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
    ? 'You have trades from when you were private, and do not show them: so others see no profit or loss, ROI, net worth or rank of you, and you are on no board.'
    : 'This trader has trades from when the account was private, and does not show them: so profit or loss, ROI, net worth and rank are not shown.';
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

type Claim = { claim: string; holds: boolean | null };

/** The checks of a record, and their outcome. */
export function claimsOf(check: RecordCheck, keyId: string): Claim[] {
  return [
    {
      claim: 'Signature: the owner of the public key signed exactly these bytes.',
      holds: check.signature,
    },
    { claim: `Key: this server publishes the public key as ${keyId}.`, holds: check.key },
    { claim: 'Record: the numbers shown are the signed numbers.', holds: check.record },
  ];
}

/** @returns `isGenuine` null: that cannot be said here */
export function verdictOf({ signature, key, record }: RecordCheck): {
  isGenuine: boolean | null;
  sentence: string;
} {
  if (signature === false || !key || !record) {
    return { isGenuine: false, sentence: 'This record is not genuine.' };
  }
  if (signature === null) {
    return { isGenuine: null, sentence: 'This browser cannot check Ed25519 signatures.' };
  }
  return {
    isGenuine: true,
    sentence: 'This record is genuine: it is unchanged since this server signed it.',
  };
}

/** `track-record-TRADER-2026-11-24.json` */
export function recordFileName({ record }: SignedTrackRecord): string {
  return `track-record-${record.traderId}-${record.issuedAt.slice(0, 10)}.json`;
}
