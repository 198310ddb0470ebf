/** The personal account by itself. Rules A90, A91 (api/RULES.md). */
import { Type } from '@sinclair/typebox';
import { AsOf, Dollars, described, Mode, nullable, strict, Uuid } from '../base/common-schemas.ts';
import { PlanSchema } from './identity.ts';
import { RealismSchema } from './realism.ts';
import { Account } from './trading.ts';

export const AccountAnswer = strict(
  {
    user: strict({ id: Uuid, displayName: nullable(Type.String()), private: Type.Boolean() }),
    plan: PlanSchema,
    realism: RealismSchema,
    points: described(Dollars, 'Equal to the net worth; the start balance before the first trade.'),
    balanceDollars: described(
      Dollars,
      'Spendable cash; the start balance before the first trade. Equal to that of the account.',
    ),
    account: nullable(Account, { description: 'Null before the first trade.' }),
    asOf: AsOf,
    mode: Mode,
  },
  { title: 'AccountPage' },
);

export const ResetAnswer = strict({ account: Account }, { title: 'ResetResult' });
