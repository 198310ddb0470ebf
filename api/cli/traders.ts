/** `paperbook leaderboard`, `trader` and `eval`. Rules U12, U22 (api/RULES.md). */
import { type Command, Option } from 'commander';
import type { EvalPick, EvalRow, LeaderboardRow, Pick, Trader } from 'paperbook/client';
import { BOARD_KINDS, type BoardKind } from '../../engine/records/boards/leaderboard.ts';
import { METRICS, type Metric } from '../../engine/records/maths/statistics.ts';
import { answerOf, byKey, given, type KeyFlags, ofKey } from './account-connection.ts';
import { ofPages, type PageFlags, pagesOf, sayMore } from './pages.ts';
import { type Column, listOf, money, noneOf, show, showRows, tableOf } from './table.ts';

type BoardFlags = KeyFlags & PageFlags & { window?: string };
type EvalFlags = BoardFlags & { metric?: Metric; own?: true };

const PAGE_MAX = 100;
const LIMIT = { limit: 'rows at most; default 25' };

export function addTraderCommands(program: Command): void {
  ofBoard(program.command('leaderboard').description('rank public traders, best first'))
    .addOption(new Option('--kind <kind>', 'measure to rank by; default pnl').choices(BOARD_KINDS))
    .action(leaderboard);
  const picks = ofKey(
    program.command('trader <idOrName>').description('public numbers and picks of a trader'),
  );
  ofPages(picks, { limit: 'picks at most; default 20' }).action(trader);
  ofBoard(program.command('eval').description('rank public traders by the accuracy of their picks'))
    .addOption(new Option('--metric <metric>', 'score to rank by; default brier').choices(METRICS))
    .option('--own', 'list all your settled picks with their scores')
    .action(evaluation);
}

function ofBoard(command: Command): Command {
  return ofPages(ofKey(command), LIMIT).option(
    '--window <window>',
    'all, or a number of days such as 30d',
  );
}

async function leaderboard(options: BoardFlags & { kind?: BoardKind }): Promise<void> {
  const { server, client } = byKey(options);
  const { window, kind } = options;
  const asked = pagesOf('rows', options, PAGE_MAX, (query) =>
    client.getLeaderboard({ query: { ...given({ window, kind }), ...query } }),
  );
  const page = await answerOf(server, asked);
  showRows(options, page, 'traders', page.rows, BOARD_COLUMNS);
  sayMore(page, options);
}

const BOARD_COLUMNS: Column<LeaderboardRow>[] = [
  ['rank', ({ rank }) => rank],
  ['trader', ({ traderId }) => traderId, 'apart'],
  ['name', ({ displayName }) => displayName],
  ['P&L', ({ pnlDollars }) => money(pnlDollars)],
  ['ROI %', ({ roiPct }) => roiPct],
  ['net worth', ({ netWorthDollars }) => money(netWorthDollars)],
  ['won', ({ won }) => won],
  ['lost', ({ lost }) => lost],
  ['void', ({ void: voided }) => voided],
];

async function trader(traderId: string, options: KeyFlags & PageFlags): Promise<void> {
  const { server, client } = byKey(options);
  const path = { traderId };
  const { trader: shown, mode } = await answerOf(server, client.getTrader({ path }));
  const asked = pagesOf('picks', options, PAGE_MAX, (query) => client.listPicks({ path, query }));
  const { picks, nextCursor } = await answerOf(server, asked);
  show(options, { trader: shown, picks, nextCursor, mode }, () => {
    const table = picks.length === 0 ? noneOf('picks') : tableOf(picks, PICK_COLUMNS);
    return `${listOf(factsOf(shown))}\n${table}`;
  });
  sayMore({ nextCursor }, options);
}

function factsOf(trader: Trader): [name: string, value: string | number][] {
  const { won, lost, void: voided } = trader;
  return [
    ['Trader', trader.id],
    ['Name', trader.displayName ?? '-'],
    ['Shows', trader.private ? 'nothing: private' : trader.numbersShown ? 'all' : 'no numbers'],
    ['P&L', money(trader.pnlDollars)],
    ['ROI', trader.roiPct === null ? '-' : `${trader.roiPct}%`],
    ['Net worth', money(trader.netWorthDollars)],
    ['Rank', trader.rank ?? '-'],
    ['Picks', `${won} won, ${lost} lost, ${voided} void`],
    ['Resets, busts', `${trader.resets}, ${trader.busts}`],
  ];
}

const PICK_COLUMNS: Column<Pick>[] = [
  ['pick', ({ pickId }) => pickId, 'apart'],
  ['label', ({ marketLabel }) => marketLabel],
  ['side', ({ side }) => side],
  ['result', ({ result }) => result],
  ['stake', ({ stakeDollars }) => money(stakeDollars)],
  ['P&L', ({ pnlDollars }) => money(pnlDollars)],
  ['closed', ({ closedAt }) => closedAt],
];

async function evaluation(options: EvalFlags): Promise<void> {
  const { server, client } = byKey(options);
  const { window, metric, own } = options;
  if (own === true) {
    const asked = client.getOwnEval({ query: given({ window }) });
    const answer = await answerOf(server, asked);
    return showRows(options, answer, 'settled picks', answer.picks, OWN_COLUMNS);
  }
  const asked = pagesOf('rows', options, PAGE_MAX, (query) =>
    client.getEval({ query: { ...given({ window, metric }), ...query } }),
  );
  const page = await answerOf(server, asked);
  showRows(options, page, 'traders', page.rows, EVAL_COLUMNS);
  sayMore(page, options);
}

const rounded = (value: number | null) => (value === null ? null : Number(value.toFixed(4)));

const EVAL_COLUMNS: Column<EvalRow>[] = [
  ['rank', ({ rank }) => rank],
  ['trader', ({ traderId }) => traderId, 'apart'],
  ['name', ({ displayName }) => displayName],
  ['picks', ({ picks }) => picks],
  ['games', ({ games }) => games],
  ['value', ({ value }) => rounded(value)],
  ['low', ({ interval }) => rounded(interval?.low ?? null)],
  ['high', ({ interval }) => rounded(interval?.high ?? null)],
  ['skill', ({ skill }) => rounded(skill)],
  ['tied', ({ tiedWithAbove }) => (tiedWithAbove === null ? null : tiedWithAbove ? 'yes' : 'no')],
];

const OWN_COLUMNS: Column<EvalPick>[] = [
  ['trade', ({ tradeId }) => tradeId, 'apart'],
  ['instrument', ({ instrumentId }) => instrumentId, 'apart'],
  ['side', ({ side }) => side],
  ['outcome', ({ outcome }) => outcome],
  ['forecast', ({ forecastProb }) => forecastProb],
  ['brier', ({ brier }) => rounded(brier)],
  ['CLV ¢', ({ clvCents }) => clvCents],
  ['P&L', ({ pnlDollars }) => money(pnlDollars)],
  ['slate', ({ inSlate }) => (inSlate ? 'yes' : 'no')],
  ['closed', ({ closedAt }) => closedAt],
];
