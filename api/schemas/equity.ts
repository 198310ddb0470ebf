/** The worth of an account over time. Rules A92 to A95 (api/RULES.md). */
import { Type } from '@sinclair/typebox';
import { POINTS_MAX } from '../../engine/equity/points.ts';
import {
  AsOf,
  DateTime,
  Dollars,
  described,
  Mode,
  nullable,
  strict,
  VenueDataOn,
  windowOf,
} from '../base/common-schemas.ts';
import { Organization } from './trading.ts';

export const EquityQuery = strict({
  window: windowOf('30d', 'that are shown'),
});

const Run = Type.Integer({ minimum: 1 });

const EquityPoint = strict(
  {
    at: DateTime,
    netWorthDollars: Dollars,
    balanceDollars: Dollars,
    openStakeDollars: Dollars,
    realizedPnlDollars: described(Dollars, 'Realized profit or loss of its run.'),
    run: Run,
  },
  { title: 'EquityPoint', description: 'The state of the account at that moment.' },
);

export const EquityAnswer = strict(
  {
    points: Type.Array(EquityPoint, {
      maxItems: POINTS_MAX,
      description: 'In order of time; the last one is now. Empty before the first trade.',
    }),
    run: nullable(Run, { description: 'The present run; null before the first trade.' }),
    asOf: AsOf,
    venueData: VenueDataOn,
    mode: Mode,
    organization: Organization,
  },
  { title: 'Equity' },
);
