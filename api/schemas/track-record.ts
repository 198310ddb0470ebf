/** Wire schemas of the keys of signed track records. Rule Y67 (engine/RULES.md). */

import { type Static, Type } from '@sinclair/typebox';
import { FILL_MODELS } from '../../engine/base/units.ts';
import {
  Count,
  DateTime,
  Dollars,
  Mode,
  nullable,
  oneOf,
  strict,
  Uuid,
} from '../base/common-schemas.ts';
import { FillsSchema } from './records.ts';

const Key = strict(
  {
    kty: oneOf(['OKP']),
    crv: oneOf(['Ed25519']),
    x: Type.String({ description: 'The public key, 32 bytes in base64url.' }),
    kid: Type.String({ description: 'The keyId of records that this key signed.' }),
    alg: oneOf(['EdDSA']),
    use: oneOf(['sig']),
  },
  { title: 'TrackRecordKey' },
);

export const TrackRecordKeysAnswer = strict(
  { keys: Type.Array(Key, { description: 'Every key that ever signed, newest first.' }) },
  { title: 'TrackRecordKeys' },
);

export const TrackRecordQuery = strict({
  days: Type.Optional(Type.Integer({ minimum: 90, maximum: 90, description: 'Always 90.' })),
  fills: FillsSchema,
});

const Score = nullable(Type.Number());
const Interval = nullable(strict({ low: Type.Number(), high: Type.Number() }));

const Record = strict(
  {
    version: Type.Literal(1),
    traderId: Uuid,
    days: Type.Literal(90),
    from: DateTime,
    to: DateTime,
    issuedAt: DateTime,
    ...{ settledPicks: Count, won: Count, lost: Count, void: Count },
    pnlDollars: Dollars,
    pnlAfterFeesDollars: Dollars,
    roiPct: Score,
    games: Count,
    ...{ brier: Score, logLoss: Score, clvCents: Score, skill: Score },
    interval: strict({
      method: Type.Literal('CR2'),
      level: Type.Literal(0.95),
      clusteredBy: Type.Literal('game'),
      ...{ brier: Interval, logLoss: Interval, clvCents: Interval },
      pnlAfterFeesDollars: Interval,
    }),
    feeTable: nullable(Type.String(), { description: 'The day of the newest fee table in use.' }),
    fillModel: oneOf(FILL_MODELS),
    fills: Type.Optional(Type.Literal('realistic', { description: 'Absent: all picks.' })),
    bySeries: Type.Optional(
      Type.Array(strict({ series: Type.String(), settledPicks: Count, pnlDollars: Dollars }), {
        description: 'Present only while the venue-data switch is on.',
      }),
    ),
  },
  { title: 'TrackRecord' },
);

export const TrackRecordAnswer = strict(
  {
    envelope: strict({
      payload: Type.String({ description: 'The canonical JSON of the record, in base64url.' }),
      signature: Type.String(),
      publicKey: Type.String(),
      keyId: Type.String(),
      algorithm: oneOf(['Ed25519']),
    }),
    record: Record,
    mode: Mode,
  },
  { title: 'SignedTrackRecord' },
);

export const TRACK_RECORD_EXAMPLE: Static<typeof TrackRecordAnswer> = {
  envelope: {
    payload: 'eyJicmllciI6MC4yMiwi4oCm',
    signature:
      'iOdQcOYHZ6UxGJVJ4NyEKc8kSEZ-0uHxQ2YxqSWMnKjMnJzVTO1mEXXXLkyLdr9rZvTqnmlgB5xVUcQX6MFnBg',
    publicKey: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
    keyId: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
    algorithm: 'Ed25519',
  },
  record: {
    ...{ version: 1, traderId: '019aa4c0-5e00-7d10-b2f3-8c1e6a9d4f05', days: 90 },
    ...{ from: '2026-08-23T05:00:00.000Z', to: '2026-11-21T05:00:00.000Z' },
    ...{ issuedAt: '2026-11-21T05:00:00.000Z', settledPicks: 41, won: 24, lost: 16, void: 1 },
    ...{ pnlDollars: 1204.5, pnlAfterFeesDollars: 1150.25, roiPct: 8.03, games: 38 },
    ...{ brier: 0.2213, logLoss: 0.6331, clvCents: 1.25, skill: 0.0121 },
    interval: {
      ...{ method: 'CR2', level: 0.95, clusteredBy: 'game' },
      ...{ brier: { low: 0.1987, high: 0.2439 }, logLoss: { low: 0.58, high: 0.69 } },
      ...{ clvCents: { low: 0.1, high: 2.4 }, pnlAfterFeesDollars: null },
    },
    ...{ feeTable: '2026-07-07', fillModel: 'top_of_book' },
  },
  mode: 'paper',
};

export const TRACK_RECORD_KEYS_EXAMPLE: Static<typeof TrackRecordKeysAnswer> = {
  keys: [
    {
      kty: 'OKP',
      crv: 'Ed25519',
      x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
      kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
      alg: 'EdDSA',
      use: 'sig',
    },
  ],
};
