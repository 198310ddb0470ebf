/**
 * Admin routes by which an operator decides a market, corrects cash and tags trades. All are facts,
 * on disk before the answer. Rules O12, O13, O17, O26, O37 (api/RULES.md).
 */
import { Type } from '@sinclair/typebox';
import { type Cents, isoOf } from '../../../engine/base/units.ts';
import type { TradeTag } from '../../../engine/rules/events.ts';
import type { MarketResult, Reply, Settled, TagTrade } from '../../../engine/rules/messages.ts';
import type { CorrectedMarket } from '../../../engine/rules/queries.ts';
import { NoQuery, strict, Uuid } from '../../base/common-schemas.ts';
import { ApiError, invalidRequest } from '../../base/errors.ts';
import { bodyReader } from '../../base/validation.ts';
import { keyed, type Route } from '../../dispatch/route.ts';
import type { Operator } from '../../identity/admin-token.ts';
import {
  AdjustmentAnswer,
  CorrectionsAnswer,
  MarkAnswer,
  SettlementAnswer,
} from '../../schemas/admin.ts';
import type { ServerContext } from '../server-context.ts';

type Context = Pick<ServerContext, 'engine' | 'log' | 'identity' | 'settleMarket'>;

const readSettlement = bodyReader(
  strict({
    market: Type.String({ minLength: 1, maxLength: 300 }),
    result: Type.String({ minLength: 1, maxLength: 10 }),
    correct: Type.Optional(Type.Boolean()),
  }),
);
const readMark = bodyReader(
  strict({
    tradeId: Uuid,
    userId: Type.Optional(Uuid),
    parlayId: Type.Optional(Uuid),
    combine: Type.Optional(Type.Boolean()),
  }),
);
const readAdjustment = bodyReader(strict({ userId: Uuid, dollars: Type.Number() }));

export function correctionAdminRoutes(context: Context): Route<Operator>[] {
  return [
    settlementRoute(context),
    correctionsRoute(context),
    adjustmentRoute(context),
    markRoute(context),
  ];
}

function settlementRoute({ settleMarket, log }: Context): Route<Operator> {
  return keyed({
    method: 'POST',
    path: '/admin/settlements',
    query: NoQuery,
    response: SettlementAnswer,
    mayBeUnavailable: true,
    readBody: readSettlement,
    run: async ({ body }) => {
      const isCorrection = body.correct === true;
      const { market, tick, reply } = await settleMarket(body.market, body.result, {
        isCorrection,
      });
      if (!reply.ok) return reply;
      const settled = JSON.parse(reply.body) as Settled;
      const answer = { market, ...shownResult(tick), ...settled };
      const did = isCorrection
        ? 'result corrected by the operator'
        : 'market settled by the operator';
      log.warn(answer, did);
      return JSON.stringify(answer);
    },
  });
}

function correctionsRoute({ engine }: Context): Route<Operator> {
  return keyed({
    method: 'GET',
    path: '/admin/corrections',
    query: NoQuery,
    response: CorrectionsAnswer,
    run: async () => {
      const found = correctedIn(await engine.corrected());
      const corrections = found.map(({ market, result, resolvedAtMs }) => {
        return { market, ...shownResult(result), resolvedAt: isoOf(resolvedAtMs) };
      });
      return JSON.stringify({ corrections });
    },
  });
}

function shownResult({ outcome, yesPayoutCents, noPayoutCents }: MarketResult) {
  const isVoid = outcome === 'void';
  return {
    outcome,
    yesPayoutCents: isVoid ? null : yesPayoutCents,
    noPayoutCents: isVoid ? null : noPayoutCents,
  };
}

/** Of all shards, the last correction first. A shard may lack the last one of a market. */
function correctedIn(answers: readonly (string | null)[]): CorrectedMarket[] {
  const newest = new Map<string, CorrectedMarket>();
  for (const answer of answers) {
    if (answer === null) continue;
    for (const found of (JSON.parse(answer) as { corrected: CorrectedMarket[] }).corrected) {
      const known = newest.get(found.market);
      if (known === undefined || known.correction < found.correction) {
        newest.set(found.market, found);
      }
    }
  }
  return [...newest.values()].sort((a, b) => b.correction - a.correction);
}

function adjustmentRoute({ engine, identity, log }: Context): Route<Operator> {
  return keyed({
    method: 'POST',
    path: '/admin/adjustments',
    query: NoQuery,
    response: AdjustmentAnswer,
    mayBeUnavailable: true,
    readBody: readAdjustment,
    run: async ({ body: { userId, dollars } }) => {
      const amountCents = centsOf(dollars);
      const account = userId.toLowerCase();
      if (!identity.users.has(account)) {
        throw new ApiError('account_not_found', { message: 'No such user.' });
      }
      const atMs = engine.nowMs();
      const reply = await engine.call(account, { kind: 'adjust', atMs, account, amountCents });
      if (!reply.ok) {
        const message = REFUSED[reply.code];
        return message === undefined ? reply : { ...reply, message };
      }
      const answer = { userId: account, dollars, ...JSON.parse(reply.body) };
      log.warn(answer, 'cash adjusted by the operator');
      return JSON.stringify(answer);
    },
  });
}

function markRoute({ engine, identity, log }: Context): Route<Operator> {
  return keyed({
    method: 'POST',
    path: '/admin/marks',
    query: NoQuery,
    response: MarkAnswer,
    mayBeUnavailable: true,
    readBody: readMark,
    run: async ({ body: { tradeId, userId, parlayId, combine = false } }) => {
      const parlay = parlayId?.toLowerCase() ?? null;
      if (parlay === null && !combine) throw invalidRequest('parlayId or combine must be given');
      const [trade, account] = [tradeId.toLowerCase(), userId?.toLowerCase() ?? null];
      const at = { kind: 'mark', atMs: engine.nowMs(), trade, account } as const;
      const command = { ...at, parlay, combine };
      let reply = await engine.tagTrade(command);
      if (!reply.ok && account === null) reply = await tagOver(engine, identity, command);
      if (!reply.ok) return { ...reply, message: 'No such trade.' };
      const tag = JSON.parse(reply.body) as TradeTag;
      const answer = { tradeId: trade, parlayId: tag.parlay, combine: tag.combine };
      log.warn(answer, 'trade marked by the operator');
      return JSON.stringify(answer);
    },
  });
}

/** A trade that is over lies with its account, which its id does not name. So each is asked. */
async function tagOver(
  engine: Context['engine'],
  { users, organizations }: Context['identity'],
  command: TagTrade,
): Promise<Reply> {
  let accounts = [...organizations.all.keys()];
  for (let last: string | undefined = ''; ; ) {
    const asked = accounts.map((account) => engine.call(account, { ...command, account }));
    const taken = (await Promise.all(asked)).find(({ ok }) => ok);
    if (taken !== undefined) return taken;
    if (last === undefined) return { ok: false, code: 'trade_not_found', message: '' };
    accounts = users.after(last, ACCOUNTS_AT_ONCE).map(({ id }) => id);
    last = accounts.at(-1);
  }
}

/** Orders of others are taken between them. */
const ACCOUNTS_AT_ONCE = 100;

/** The engine's refusals as this listener answers them. */
const REFUSED: Readonly<Record<string, string>> = {
  account_not_found: 'The user has not traded yet: an account begins with its first order.',
  insufficient_balance: 'The account has less to spend than dollars takes.',
  invalid_request: 'dollars: the account would hold more than can be counted',
};

function centsOf(dollars: number): Cents {
  const cents = Math.round(dollars * 100);
  if (cents !== 0 && Number.isSafeInteger(cents) && cents / 100 === dollars) return cents;
  throw invalidRequest('dollars must be an amount other than 0, with at most two decimals');
}
