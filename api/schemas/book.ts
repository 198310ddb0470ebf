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
  description: 'Cents and contracts of each level, best first.',
});
export const BookAnswer = strict(
  {
    instrumentId: InstrumentId,
    venue: nullable(VenueSchema, {
      description: 'Venue of the levels; null if the instrument has no market.',
    }),
    yesBids: Levels,
    yesAsks: Levels,
    asOf: AsOf,
    mode: Mode,
  },
  { title: 'Book' },
);
