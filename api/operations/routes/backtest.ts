/** Replays settled game winners on paper. Rules Z1 to Z14 (engine/RULES.md). */
import { jsonProblem, parseJson } from '../../../engine/base/bounded-json.ts';
import { NoQuery } from '../../base/common-schemas.ts';
import { ApiError, invalidRequest } from '../../base/errors.ts';
import { type BodyReader, bodyReader } from '../../base/validation.ts';
import type { Caller } from '../../dispatch/access.ts';
import { keyed, type Route } from '../../dispatch/route.ts';
import { CodedBody } from '../../http/asset.ts';
import {
  BACKTEST_BODY_EXAMPLE,
  BACKTEST_EXAMPLE,
  BacktestAnswer,
  BacktestBody,
} from '../../schemas/backtest.ts';
import { backtestTask, checkBacktest } from '../backtest-task.ts';
import type { ServerContext } from '../server-context.ts';

type Context = Pick<
  ServerContext,
  'engine' | 'catalog' | 'fees' | 'history' | 'backtest' | 'config' | 'switches'
>;

const BODY_BYTES_MAX = 2 ** 20;

export function backtestRoute(context: Context): Route<Caller> {
  return keyed({
    method: 'POST',
    path: '/backtest',
    about: {
      operationId: 'runBacktest',
      tag: 'Backtest',
      summary: 'Replay settled game winners on paper',
      description:
        'Looks once at each market, and buys at the ask where the rule says so. It then sells, or ' +
        'holds to the result. It has its own account and the rules of live trading. Nothing of it ' +
        'is kept. At most 10 run at once.',
      bodyExamples: { 'Favorites of a month': BACKTEST_BODY_EXAMPLE },
      example: BACKTEST_EXAMPLE,
    },
    scope: 'markets:read',
    mayBeUnavailable: true,
    errors: ['not_configured'],
    query: NoQuery,
    bodyBytesMax: BODY_BYTES_MAX,
    readBody: bodyOf(context),
    response: BacktestAnswer,
    run: async ({ body, caller }) => {
      const { backtest: source, history, switches } = context;
      if (source.kind === 'forwarded') {
        return new CodedBody(null, await source.run(body as string));
      }
      if (source.kind === 'off' || history.kind !== 'embedded') {
        throw new ApiError('not_configured');
      }
      const { marketNumber } = history;
      const parts = { ...context, source, marketNumber, account: caller.user.id };
      return await switches.answered((withPrices) =>
        source.pool.run(caller.user.id, async () => ({
          ...(await backtestTask(parts, body as BacktestBody)),
          withPrices,
        })),
      );
    },
  });
}

const readBody = bodyReader(BacktestBody, checkBacktest);

/** The reader of a body: as text where a service owns it. */
function bodyOf(context: Context): BodyReader<BacktestBody | string> {
  const isForwarded = () => context.backtest.kind === 'forwarded';
  const read = (text: string) => (isForwarded() ? asJson(text) : readBody(text));
  const ofValue = (value: unknown) =>
    isForwarded() ? JSON.stringify(value) : readBody.ofValue(value);
  return Object.assign(read, { ofValue, schema: BacktestBody, isRequired: true });
}

function asJson(text: string): string {
  try {
    parseJson(text);
  } catch (error) {
    throw invalidRequest(`the body ${jsonProblem(error)}`);
  }
  return text;
}
