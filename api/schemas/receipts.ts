/** Wire schemas of signed receipts. Rules A156, A157 (api/RULES.md). */
import { type Static, Type } from '@sinclair/typebox';
import { FILL_MODELS } from '../../engine/base/units.ts';
import {
  Contracts,
  Count,
  DateTime,
  Mode,
  nullable,
  oneOf,
  PriceCents,
  strict,
  Uuid,
  VenueSchema,
} from '../base/common-schemas.ts';
import { Envelope } from './track-record.ts';

/** Contracts of a venue, which may have two decimals. */
const VenueContracts = Type.Number({ minimum: 0 });

/** Cents of the side traded, and contracts. */
const Level = Type.Array(Count, { minItems: 2, maxItems: 2 });

const ReceiptFill = strict(
  {
    at: DateTime,
    contracts: Contracts,
    priceCents: PriceCents,
    liquidity: oneOf(['maker', 'taker']),
    venue: VenueSchema,
    levels: nullable(Type.Array(Level), {
      description: 'What it took, as [cents, contracts], best first; null if it waited in a queue.',
    }),
    queue: nullable(
      strict({
        aheadAtArrival: nullable(VenueContracts, {
          description: 'Shown at its price when it arrived; null if nobody knew the book then.',
        }),
        aheadBefore: nullable(VenueContracts),
        prints: Type.Array(strict({ at: DateTime, contracts: VenueContracts }), {
          description: 'What met it since its last fill, each with its whole size.',
        }),
      }),
      { description: 'Null if it was not filled in a queue.' },
    ),
    quoteAgeMs: nullable(Count, {
      description: 'Null if an earlier version of the server has filled it.',
    }),
    gapsMs: nullable(Count, {
      description: 'How long nobody knew its book while it waited; null outside of queues.',
    }),
    fee: nullable(
      strict({
        dollars: Type.Number(),
        table: nullable(Type.String(), {
          description:
            'The line of the fee table, with its date; null if no line names the market.',
        }),
        rate: nullable(Type.String(), {
          description: 'Of the line; null if the catalog does not name the market any more.',
        }),
        formula: Type.String({ description: 'In words, with all figures.' }),
      }),
      { description: 'What the order was charged. Null if it pays no fees.' },
    ),
  },
  { title: 'ReceiptFill' },
);

const Receipt = strict(
  {
    version: Type.Literal(1),
    orderId: Uuid,
    tradeId: nullable(Uuid),
    model: nullable(oneOf(FILL_MODELS)),
    latencyMs: Count,
    acceptedAt: DateTime,
    arrivedAt: nullable(DateTime, { description: 'Null until it has met the book.' }),
    fills: Type.Array(ReceiptFill),
  },
  { title: 'Receipt' },
);

export const ReceiptAnswer = strict(
  { receipt: Receipt, envelope: Envelope, mode: Mode },
  { title: 'SignedReceipt' },
);
export type Receipt = Static<typeof Receipt>;

export const RECEIPT_EXAMPLE: Static<typeof ReceiptAnswer> = {
  receipt: {
    ...{ version: 1, orderId: '019aa4c0-5e00-7d10-b2f3-8c1e6a9d4f05' },
    ...{ tradeId: '019aa4c0-7d18-7d10-b2f3-8c1e6a9d4f04', model: 'queue', latencyMs: 0 },
    ...{ acceptedAt: '2026-11-21T05:00:00.000Z', arrivedAt: '2026-11-21T05:00:00.000Z' },
    fills: [
      {
        ...{ at: '2026-11-21T05:00:08.216Z', contracts: 5, priceCents: 40, liquidity: 'maker' },
        ...{ venue: 'venue_a', levels: null, quoteAgeMs: 0, gapsMs: 0 },
        fee: {
          ...{ dollars: 0.03, table: 'kalshi, KXNFLGAME, from 2026-07-07', rate: '0.0175' },
          formula:
            'contracts × rate × price × (1 - price), each up to 0.000001: ' +
            '5 × 0.0175 × 0.4 × 0.6 = 0.021, together 0.021, up to the cent 0.03',
        },
        queue: {
          ...{ aheadAtArrival: 120.5, aheadBefore: 12 },
          prints: [{ at: '2026-11-21T05:00:08.216Z', contracts: 17.25 }],
        },
      },
    ],
  },
  envelope: {
    payload: 'eyJhY2NlcHRlZEF0IjoiMjDigKY',
    signature:
      'iOdQcOYHZ6UxGJVJ4NyEKc8kSEZ-0uHxQ2YxqSWMnKjMnJzVTO1mEXXXLkyLdr9rZvTqnmlgB5xVUcQX6MFnBg',
    publicKey: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
    keyId: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
    algorithm: 'Ed25519',
  },
  mode: 'paper',
};
