/** `paperbook backtest FILE`: a rule replayed on settled game winners. Rule U17 (api/RULES.md). */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { Backtest, BacktestRequest, BacktestTrade } from 'paperbook/client';
import { decodedText, readProblem } from '../../engine/base/bounded-json.ts';
import { answerOf, byKey, type KeyFlags, ofKey } from './account-connection.ts';
import { type Column, helpNotes, listOf, money, show, tableOf, wrapped } from './table.ts';

/** Rule T156 (engine/RULES.md). */
const NO_QUEUES =
  'The history has no queues, and nothing of a backtest waits: "queue" fills as "book_depth" where ' +
  'sizes were recorded, else as "top_of_book".';

const NO_LATENCY =
  'It knows no latency either: it buys and sells at the price that is there at the look.';

const EXAMPLE = `
A file, such as:
  {"markets": {"league": "mlb", "from": "2026-07-01"},
   "rule": {"side": "favorite", "maxPriceCents": 75,
            "entryMinutesBeforeStart": 10},
   "stake": {"dollars": 100}, "fees": "venue_a", "fillModel": "book_depth"}`;

export function addBacktestCommand(program: Command): void {
  ofKey(program.command('backtest <file>'))
    .description('replay a rule on settled game winners; the file is the body of POST /backtest')
    .addHelpText('after', EXAMPLE)
    .addHelpText('after', helpNotes(`${NO_QUEUES}\n${NO_LATENCY}`))
    .action(backtest);
}

async function backtest(file: string, options: KeyFlags): Promise<void> {
  const body = bodyIn(file);
  const { server, client } = byKey(options);
  const answer = await answerOf(server, client.runBacktest({ body }));
  show(options, answer, (done) => {
    return body.fillModel === 'queue' ? `${reportOf(done)}\n${wrapped(NO_QUEUES)}` : reportOf(done);
  });
}

/** The server checks its fields. */
function bodyIn(file: string): BacktestRequest {
  let text: string;
  try {
    text = decodedText(readFileSync(file));
  } catch (error) {
    throw new Error(`${file} ${readProblem(error)}`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${file} is not JSON: ${(error as Error).message}`);
  }
}

function reportOf({ summary, trades, skipped, coverage }: Backtest): string {
  const percent = summary.roiPct === null ? '-' : `${summary.roiPct}%`;
  const reasons = Object.entries(skipped).map(([reason, count]) => `${reason} ${count}`);
  const { won, lost, void: voided, soldEarly } = summary;
  const parts = [
    listOf([
      ['Markets', summary.markets],
      ['Trades', summary.trades],
      ['Won, lost, void, sold', `${won}, ${lost}, ${voided}, ${soldEarly}`],
      ['Profit or loss', money(summary.pnlDollars)],
      ['Fees', money(summary.feesDollars)],
      ['After fees', money(summary.pnlAfterFeesDollars)],
      ['Of the cost', percent],
      ['Max drawdown', money(summary.maxDrawdownDollars)],
      ['Brier score of entry prices', summary.brier?.toFixed(4) ?? '-'],
      ['Skipped', reasons.join(', ') || '-'],
      ['With quotes', `${coverage.withQuotes} of ${coverage.markets} settled`],
    ]),
  ];
  if (trades.length > 0) parts.push(tableOf(trades, COLUMNS));
  return parts.join('\n');
}

const COLUMNS: Column<BacktestTrade>[] = [
  ['instrument', ({ instrumentId }) => instrumentId, 'apart'],
  ['label', ({ label }) => label],
  ['side', ({ side }) => side],
  ['contracts', ({ contracts }) => contracts],
  ['entry ¢', ({ entryCents }) => entryCents ?? null],
  ['exit ¢', ({ exitCents }) => exitCents ?? null],
  ['opened', ({ openedAt }) => openedAt],
  ['result', ({ result }) => result],
  ['profit or loss', ({ pnlDollars }) => money(pnlDollars)],
];
