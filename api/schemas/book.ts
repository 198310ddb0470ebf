/** Displayed levels on the wire. Rules A84, A85 (api/RULES.md). */
import { Type } from '@sinclair/typebox';
import {
  AsOf,
  Count,
  InstrumentId,
  Mode,
  nullable,
  strict,
  VenueSchema,
} from '../base/common-schemas.ts';

const Level = Type.Array(Count, { minItems: 2, maxItems: 2 });
const Levels = Type.Array(Level, {
  maxItems: 20,
  description: 'Of each level its cents and its contracts, best first.',
});
export const BookAnswer = strict(
  {
    instrumentId: InstrumentId,
    venue: nullable(VenueSchema, {
      description: 'Whose levels these are; null: it has no market.',
    }),
    yesBids: Levels,
    yesAsks: Levels,
    asOf: AsOf,
    mode: Mode,
  },
  { title: 'Book' },
);
