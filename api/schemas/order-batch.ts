/** Several orders in one request, and their answers. Rules J30 to J32 (api/RULES.md). */
import { Type } from '@sinclair/typebox';
import { described, ErrorAnswer, Mode, strict } from '../base/common-schemas.ts';
import { OrderRequestSchema } from './order-body.ts';
import { PlacementAnswer } from './placing.ts';

export const OrderBatch = strict(
  { orders: Type.Array(OrderRequestSchema, { minItems: 1, maxItems: 100 }) },
  { title: 'OrderBatch' },
);

export const BatchAnswer = strict(
  {
    results: Type.Array(
      strict({
        status: Type.Integer({
          description: 'Status of the answer, as of `POST /portfolio/orders`.',
        }),
        body: described(
          Type.Union([PlacementAnswer, ErrorAnswer]),
          'Body of the answer, also if it is an error.',
        ),
      }),
      { minItems: 1, maxItems: 100, description: 'In the order of the request.' },
    ),
    mode: Mode,
  },
  { title: 'OrderBatchResults' },
);
