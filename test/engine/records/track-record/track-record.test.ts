import { createPublicKey, verify } from 'node:crypto';
import test from 'ava';
import {
  seriesOfTicker,
  type TrackPick,
  type TrackRecordInput,
  trackRecordOf,
} from '../../../../engine/records/track-record/track-record.ts';
import {
  jwkOf,
  keyIdOf,
  newPrivateKey,
  recordProblem,
  signRecord,
  trackRecordKey,
} from '../../../../engine/records/track-record/track-record-signature.ts';

function pick(game: number, over: Partial<TrackPick> = {}): TrackPick {
  return {
    result: 'won',
    game,
    series: 'KXMLBGAME',
    inSlate: true,
    costCents: 4000,
    pnlCents: 6000,
    pnlAfterFeesCents: 5832,
    scores: { brier: 0.2, logLoss: 0.5, clvCents: 1.5, skill: null },
    ...over,
  };
}

const INPUT: TrackRecordInput = {
  traderId: '0195d3a0-0000-7000-8000-000000000001',
  nowMs: Date.UTC(2026, 10, 21),
  picks: [
    pick(1),
    pick(1, { scores: { brier: 0.1, logLoss: 0.2, clvCents: null, skill: 0.05 } }),
    pick(2, { result: 'lost', pnlCents: -4000, pnlAfterFeesCents: -4168, series: 'KXNBA' }),
    pick(3, {
      result: 'void',
      inSlate: false,
      pnlCents: 0,
      pnlAfterFeesCents: -168,
      scores: { brier: null, logLoss: null, clvCents: 7, skill: null },
    }),
  ],
  feeTable: '2026-07-07',
  fills: 'all',
  fillModel: 'top_of_book',
  venueData: true,
};

test('Y60, Y61, Y62, Y68: counts of all picks, scores of the slate, and series by name', (t) => {
  const record = trackRecordOf(INPUT);
  t.deepEqual(record, {
    version: 1,
    traderId: INPUT.traderId,
    days: 90,
    from: '2026-08-23T00:00:00.000Z',
    to: '2026-11-21T00:00:00.000Z',
    issuedAt: '2026-11-21T00:00:00.000Z',
    settledPicks: 4,
    won: 2,
    lost: 1,
    void: 1,
    pnlDollars: 80,
    pnlAfterFeesDollars: 73.28,
    roiPct: 50,
    games: 2,
    brier: 5000 / 3 / 10_000,
    logLoss: (0.5 + 0.2 + 0.5) / 3,
    clvCents: 1.5,
    skill: 0.05,
    interval: {
      method: 'CR2',
      level: 0.95,
      clusteredBy: 'game',
      brier: null,
      logLoss: null,
      clvCents: null,
      pnlAfterFeesDollars: null,
    },
    feeTable: '2026-07-07',
    fillModel: 'top_of_book',
    bySeries: [
      { series: 'KXMLBGAME', settledPicks: 3, pnlDollars: 120 },
      { series: 'KXNBA', settledPicks: 1, pnlDollars: -40 },
    ],
  });
  const { bySeries: _, ...dark } = record;
  const hidden = trackRecordOf({ ...INPUT, venueData: false });
  t.deepEqual(hidden, dark);
  t.notRegex(JSON.stringify(hidden), /KX|venue|series|ticker/i);
  t.is(seriesOfTicker('KXMLBGAME-26JUL12ATHCWS-ATH'), 'KXMLBGAME');
  const nothing = trackRecordOf({ ...INPUT, picks: [] });
  t.like(nothing, { settledPicks: 0, roiPct: null, brier: null, games: 0 });
});

test('Y24, Y60: means are means of whole numbers, as on boards, and ROI is rounded as there', (t) => {
  const picks = [1, 11].map((percent, game) =>
    pick(game, {
      pnlCents: game === 0 ? -1 : 0,
      costCents: 10_000,
      pnlAfterFeesCents: 29,
      scores: { brier: percent ** 2 / 10_000, logLoss: 0.5, clvCents: -0.5, skill: null },
    }),
  );
  const { brier, clvCents, roiPct } = trackRecordOf({ ...INPUT, picks });
  t.is(brier, 0.0061, 'and not 0.0060999999999999995');
  t.is(clvCents, -0.5);
  t.is(roiPct, -0.01, 'half a hundredth of a loss');
});

test('Y61: a mean over enough games has its interval', (t) => {
  const picks = Array.from({ length: 12 }, (_, game) =>
    pick(game, { scores: { brier: game / 20, logLoss: 0.5, clvCents: null, skill: null } }),
  );
  const { interval, brier } = trackRecordOf({ ...INPUT, picks });
  t.true(interval.brier!.low < brier! && brier! < interval.brier!.high);
  t.deepEqual(interval.logLoss, { low: 0.5, high: 0.5 });
  t.is(interval.clvCents, null);
  t.is(interval.pnlAfterFeesDollars, null, 'of P&L below 50 games');
});

const key = trackRecordKey(newPrivateKey());

function answer(): { envelope: ReturnType<typeof signRecord>; record: object; mode: string } {
  const record = trackRecordOf(INPUT);
  return { envelope: signRecord(record, key), record, mode: 'paper' };
}

test('Y63, Y64: the signature is of the decoded payload, which is the record', (t) => {
  const { envelope, record } = answer();
  const bytes = Buffer.from(envelope.payload, 'base64url');
  t.deepEqual(JSON.parse(bytes.toString()), record);
  t.regex(
    bytes.toString(),
    /^{"brier":0\.1\d+,"bySeries":\[{"pnlDollars":120,"series":"KXMLBGAME"/,
  );
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: envelope.publicKey };
  const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
  t.true(verify(null, bytes, publicKey, Buffer.from(envelope.signature, 'base64url')));
  t.is(Buffer.from(envelope.publicKey, 'base64url').length, 32);
  // RFC 8037, appendix A.3.
  t.is(
    keyIdOf('11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'),
    'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
  );
  t.throws(() => signRecord({ brier: Number.NaN }, key), { message: /NaN/ });
});

test('Y65: an answer that was changed in any byte is found', (t) => {
  const whole = answer();
  t.is(recordProblem(whole, null), null);
  t.is(recordProblem(whole, [jwkOf(key.publicKey)]), null);
  const text = JSON.stringify(whole);
  for (let at = 0; at < text.length; at++) {
    const changed = `${text.slice(0, at)}${text[at] === '1' ? '2' : '1'}${text.slice(at + 1)}`;
    let parsed: unknown;
    try {
      parsed = JSON.parse(changed);
    } catch {
      continue;
    }
    t.not(recordProblem(parsed, null), null, `byte ${at}`);
  }
});

test('Y65: another record, key or field is found, and named', (t) => {
  const whole = answer();
  const { envelope } = whole;
  const other = trackRecordKey(newPrivateKey());
  const swapped = { ...envelope, publicKey: other.publicKey };
  for (const [changed, message] of [
    [{ ...whole, record: { ...whole.record, won: 99 } }, /record differs from the payload/],
    [{ ...whole, record: { won: '\ud800' } }, /record differs from the payload/],
    [{ ...whole, envelope: swapped }, /keyId is not that of/],
    [{ ...whole, envelope: { ...swapped, keyId: other.keyId } }, /signature is not of this/],
    [{ ...whole, envelope: { ...envelope, signature: 'AA' } }, /not 64 bytes/],
    [{ ...whole, extra: 1 }, /nothing else/],
    [{ ...whole, envelope: { ...envelope, extra: 1 } }, /nothing else/],
    [{ ...whole, mode: 'live' }, /mode/],
    [[], /nothing else/],
  ] as const) {
    t.regex(recordProblem(changed, null) ?? '', message);
  }
  t.regex(recordProblem(whole, [jwkOf(other.publicKey)]) ?? '', /the keys do not have/);
  t.regex(recordProblem(whole, []) ?? '', /the keys do not have/);
});
