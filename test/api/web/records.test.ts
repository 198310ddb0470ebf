/** Boards, traders, the signed record, and backtests on the page, on a day of a few traders. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import type { Page, Route } from 'playwright-core';
import { verdictWords } from '../../../api/web/views/boards/verdict-words.ts';
import { eventually } from '../../../bench/lib/eventually.ts';
import { variantsOfRun } from '../../model/seeds.ts';
import { ask, type Json } from '../../process/client.ts';
import { runHere } from '../../process/run-here.ts';
import { tempDir } from '../../process/server.ts';
import { faultsInLooks, longPageTest, NARROW, pageTest, scrollsSideways, WIDE } from './browser.ts';
import { admin, LOOK_MINUTES } from './records-day.ts';
import { answered, endDay, enter, onDay, rowsOf, traders, verdict } from './records-page.ts';

test.after.always('the day', endDay);

longPageTest(
  'the leaderboard ranks who is public, by what one chooses, page by page',
  onDay(async (t, stage) => {
    const { page } = await enter(t, stage, 'Ada', { at: '#/boards' });
    const board = async () =>
      (await rowsOf(page, 'Leaderboard')).map(([rank, who]) => `${rank} ${who}`);
    const rankedOf = async (query: string) => {
      const { rows } = await answered(stage, `/leaderboard${query}`);
      return rows.map(({ rank, displayName: name }: Json) => {
        return `${rank} ${name}${name === 'Ada' ? ' You' : ''}`;
      });
    };
    const ranked = await board();
    // Ada is right in every game and Dora in none; prices decide among the three between them.
    t.deepEqual([ranked[0], ranked[4]], ['1 Ada You', '5 Dora']);
    t.deepEqual(ranked, await rankedOf(''));
    const byRoi = await rankedOf('?kind=roi&window=7d');
    await page.getByLabel('Ranked by').selectOption('Return (ROI)');
    await page.getByLabel('Window').selectOption('Last 7 days');
    await page.waitForURL(/#\/boards\?kind=roi&window=7d$/);
    await page.getByText('in percent of their cost').waitFor();
    await page.locator('thead strong').getByText('ROI').waitFor();
    t.deepEqual(await board(), byRoi);

    await page.getByLabel('Window').selectOption('Another number of days');
    await page.getByLabel('Days').fill('0');
    await page.getByText('A whole number of days from 1 to 3650.').waitFor();
    await page.getByLabel('Days').fill('12');
    await page.waitForURL(/window=12d$/);
    // The server's own pages, only smaller.
    await page.route('**/v1/leaderboard?*', (route) =>
      route.continue({ url: `${route.request().url()}&limit=2` }),
    );
    await page.getByRole('button', { name: 'Refresh' }).click();
    const more = page.getByRole('button', { name: 'Show more traders' });
    await more.click();
    await page.getByRole('row').nth(4).waitFor();
    await more.click();
    await page.getByRole('row').nth(5).waitFor();
    t.is(await more.count(), 0);
    t.deepEqual(await board(), byRoi);
  }),
);

longPageTest(
  'the board of evaluation says intervals, ranks that they leave open, and ties',
  onDay(async (t, stage) => {
    const { page } = await enter(t, stage, 'Cleo', { at: '#/boards' });
    await page.getByRole('tab', { name: 'Evaluation', exact: true }).click();
    const { rows } = await answered(stage, '/eval');
    const shown = await rowsOf(page, 'Evaluation');
    t.is(shown.length, rows.length);
    for (const [at, row] of rows.entries()) {
      const [rank, who, value, interval, skill, picks, games] = shown[at]!;
      const { best, worst } = row.rankInterval ?? {};
      const open = row.interval === null ? 'unknown' : `${best} to ${worst}`;
      t.is(rank, `${row.rank} , or by the intervals: ${best === worst && best ? best : open}`);
      t.true(who!.startsWith(row.displayName === 'Cleo' ? 'Cleo You' : row.displayName), who);
      t.is(value, row.value.toFixed(3));
      const low = row.interval?.low.toFixed(3);
      t.is(
        interval!.replaceAll('−', '-'),
        row.interval === null
          ? `${row.intervalNote}.`
          : `${low} to ${row.interval.high.toFixed(3)}`,
      );
      t.is(skill!.replace(/^Skill /, ''), row.skill === null ? 'none' : signed(row.skill));
      t.is(`${picks} ${games}`, `${row.picks} ${row.games}`);
    }
    const ties = shown.map(([, who]) => /(First|Tied|Apart|Not comparable).*/.exec(who!)![0]);
    t.deepEqual(ties, [
      'First by its value.',
      'Not comparable with rank 1: this row has no interval.',
      'Not comparable with rank 2: rank 2 has no interval.',
      'Tied with rank 3: their intervals overlap.',
      'Apart from rank 4: their intervals do not overlap.',
    ]);
    // Each plot has its value and, except Emil's, its interval on the same scale.
    t.is(await page.locator('tbody .plot circle').count(), 5);
    t.is(await page.locator('tbody .plot-range').count(), 4);

    await page.getByLabel('Metric').selectOption('Profit or loss per pick');
    await page.getByText('The mean profit or loss per pick in dollars').waitFor();
    const money = await answered(stage, '/eval?metric=pnl');
    await page.getByRole('columnheader', { name: 'Profit or loss per pick' }).waitFor();
    const [best] = await rowsOf(page, 'Evaluation');
    t.regex(best![2]!, /^\+\$\d+\.\d\d$/);
    t.is(best![3], `${money.rows[0].intervalNote}.`);
  }),
);

function signed(value: number): string {
  return `${value > 0 ? '+' : '−'}${Math.abs(value).toFixed(3)}`;
}

longPageTest(
  'one’s own picks have their scores, and why one is not in the slate',
  onDay(async (t, stage) => {
    const { page } = await enter(t, stage, 'Dora', { at: '#/boards?tab=own' });
    const rows = await eventually('all picks', async () => {
      const shown = await rowsOf(page, 'Your evaluation');
      return shown.length === 14 ? shown : null;
    });
    const reasons = Map.groupBy(rows, (cells) => cells.at(-1)!);
    t.deepEqual([...reasons.keys()].sort(), ['Void: it has no outcome.', 'Yes']);
    const [counted] = reasons.get('Yes')!;
    const [market, side, , forecast, outcome, brier, logLoss] = counted!;
    t.regex(market!, / to beat /);
    t.deepEqual(
      [side, forecast, outcome, brier, logLoss],
      ['no', '80% stated', 'did not happen', '0.640', '1.609'],
    );
    t.regex(counted!.at(-2)!, /^−\$\d+\.\d\d$/);
  }),
);

longPageTest(
  'U53: one’s verdict has its numbers, and its window and fills are in the address',
  onDay(async (t, stage) => {
    const { page } = await enter(t, stage, 'Ada', { at: '#/portfolio' });
    await page.getByRole('link', { name: 'Your edge' }).click();
    const region = page.getByRole('region', { name: 'Verdict' });
    await region.waitFor();
    const found = await answered(stage, '/me/verdict?window=all');
    t.is(await region.getByRole('heading').innerText(), verdictWords(found).head);
    t.true(found.games > 1);
    const facts = page.locator('.fact-list');
    t.regex(await facts.innerText(), new RegExp(`Games\\s+${found.games}\\b`));
    t.regex(await facts.innerText(), /Interval of 95%\s+(too few games|[+−]?\$?[\d.]+¢? to )/);
    await page.getByText('No pick was placed under realistic fills.').waitFor();
    await page.getByLabel('Trades').selectOption('Realistic fills alone');
    await page.waitForURL(/fills=realistic/);
    await page.getByText('None of your picks has settled in this window.').waitFor();
    await page.getByLabel('Window').selectOption('Last 7 days');
    await page.waitForURL(/window=7d/);
  }),
);

pageTest(
  'U55: every board counts all fills, or realistic ones alone, by keyboard and on a phone',
  onDay(async (t, stage) => {
    const { page } = await enter(t, stage, 'Ada', { at: '#/boards' });
    const names = async (caption: string) => (await rowsOf(page, caption)).map(([, who]) => who);
    t.is((await names('Leaderboard')).length, (await answered(stage, '/leaderboard')).rows.length);
    const asked = page.waitForRequest((request) => {
      return request.url().includes('/v1/leaderboard') && request.url().includes('fills=realistic');
    });
    await page.getByLabel('Trades').focus();
    await page.keyboard.press('ArrowDown');
    await page.waitForURL(/#\/boards\?fills=realistic$/);
    await asked;
    const { rows } = await answered(stage, '/leaderboard?fills=realistic');
    t.deepEqual(rows, [], 'all trades of the day are under simple fills');
    await page.getByText('Only trades count that were placed under realistic fills').waitFor();
    await page.getByText('Nobody is on this board.').waitFor();

    await page.setViewportSize(NARROW);
    for (const [tab, none] of [
      ['Evaluation', 'Nobody is on this board.'],
      ['Your evaluation', 'None of your picks ended in this window.'],
      ['Your edge', 'None of your picks has settled in this window.'],
    ] as const) {
      await page.getByRole('tab', { name: tab, exact: true }).click();
      await page.getByText(none).waitFor();
      await page.waitForURL(/fills=realistic/);
      t.is(await page.getByLabel('Trades').inputValue(), 'realistic', tab);
      t.false(await scrollsSideways({ page, context: page.context() }), tab);
    }
    await page.getByRole('tab', { name: 'Evaluation', exact: true }).click();
    await page.getByLabel('Trades').selectOption('All fills');
    await page.getByRole('row').nth(1).waitFor();
    t.is((await names('Evaluation')).length, (await answered(stage, '/eval')).rows.length);
  }),
);

longPageTest(
  'U52: a market with a result says who won, in the card of its game and in its own view',
  onDay(async (t, stage) => {
    const { page } = await enter(t, stage, 'Bert', { at: '#/markets' });
    const { games } = await answered(stage, '/games?limit=1');
    const [{ away, home, id }] = games;
    const { instruments } = await answered(stage, `/games/${id}`);
    const winner = instruments.find(({ marketType, listings }: Json) => {
      return marketType === 'moneyline' && listings[0].polarity === 1;
    });
    const { quote } = await answered(stage, `/instruments/${winner.id}/quote`);
    t.deepEqual(quote.result, { outcome: 'yes', yesPaysCents: 100 });
    // A team may play in several games.
    const both = `${away.name} at ${home.name}`;
    const card = page.getByRole('article').filter({ hasText: both });
    const loser = [away, home].find(({ code }: Json) => code !== winner.subject.code)!;
    await card.getByRole('row').filter({ hasText: winner.subject.name }).getByText('Won').waitFor();
    await card.getByRole('row').filter({ hasText: loser.name }).getByText('Lost').waitFor();
    await card.getByRole('link', { name: loser.name, exact: true }).click();
    const status = page.locator('.market-status');
    await status.getByText('Resolved: No').waitFor();
    await status.getByText(`${winner.subject.name} won.`).waitFor();
    await page.getByRole('heading', { name: 'Trading has ended' }).waitFor();
    await page.getByText(/^\d+ other markets? of this game$/).click();
    await page.locator('.market-others li').filter({ hasText: 'Yes' }).waitFor();
  }),
);

pageTest(
  'U57: a market with a result has no levels, and offers no buys',
  onDay(async (t, stage) => {
    const { games } = await answered(stage, '/games?limit=1');
    const { instruments } = await answered(stage, `/games/${games[0].id}`);
    // Only who wins has a result, and it need not come first.
    const { id } = instruments.find(({ marketType }: Json) => marketType === 'moneyline');
    const { page } = await enter(t, stage, 'Bert', { at: `#/market/${id}` });
    await page.getByRole('heading', { name: 'Trading has ended' }).waitFor();
    const position = page.getByRole('region', { name: 'Your position' });
    await position.getByRole('link', { name: 'Your trades are in your portfolio' }).waitFor();
    t.is(await page.getByRole('region', { name: /^(Levels|Last trades)$/ }).count(), 0);
    t.notRegex(await page.locator('main').innerText(), /\b[Bb]uys? here\b/);
  }),
);

pageTest(
  'U76: the chart of a market with a result ends at its last record, in each range',
  onDay(async (t, stage) => {
    const { games } = await answered(stage, '/games?limit=1');
    const { instruments } = await answered(stage, `/games/${games[0].id}`);
    const { id } = instruments.find(({ marketType }: Json) => marketType === 'moneyline');
    const newest = `/history?instrumentId=${id}&venue=venue_a&order=desc&limit=1`;
    const [{ at, live }] = (await answered(stage, newest)).quotes;
    t.false(live, 'it has its result');
    const { page } = await enter(t, stage, 'Bert', { at: '#/markets' });
    const windowAsked = async (act: () => Promise<unknown>) => {
      // Before the quote says that the market has its result, another window may be asked for.
      const ended = page.waitForRequest(/\/history\/candles\?.*\bto=/);
      const [asked] = await Promise.all([ended, act()]);
      const { searchParams } = new URL(asked.url());
      const [from, to] = ['from', 'to'].map((name) => Date.parse(searchParams.get(name)!));
      return { hours: Math.floor((to! - from!) / 3_600_000), to: to! };
    };
    const endMs = Date.parse(at) + 1;
    const first = await windowAsked(() => page.goto(`${stage.pageUrl}#/market/${id}`));
    t.deepEqual(first, { hours: 6, to: endMs });
    const day = await windowAsked(() => page.getByRole('radio', { name: '1 day' }).check());
    t.deepEqual(day, { hours: 24, to: endMs });
    const chart = page.getByRole('img', { name: /^Price of yes over time\. .*; between \d+¢/ });
    await chart.locator('canvas').waitFor();
    await chart.press('End');
    await page.getByText(/: Yes bid none, Yes ask none$/).waitFor();
  }),
);

/** The narrowest width, and the widths at which the header changes, are first. */
const HEADER_WIDTHS = [800, 1099, 1100, 1359, 1360, 860, 1000, 1199, 1200, 1280, 1440];

pageTest(
  'U54: the header is one line from 800 px on, and the filters of a phone are two',
  onDay(async (t, stage) => {
    const { page } = await enter(t, stage, 'Cleo', { at: '#/markets' });
    await page.locator('.funds strong').first().waitFor();
    await page.locator('.game').first().waitFor();
    await page.evaluate(
      "for (const one of document.querySelectorAll('.funds strong')) one.textContent = '$1,234,567.89'",
    );
    for (const width of variantsOfRun(HEADER_WIDTHS, 5)) {
      await page.setViewportSize({ width, height: 800 });
      const height = await page.evaluate("document.querySelector('.head').offsetHeight");
      t.true(Number(height) < 60, `${width}: ${height}`);
      t.false(await scrollsSideways({ page, context: page.context() }), String(width));
    }
    await page.setViewportSize({ width: 390, height: 800 });
    const lines = await page.evaluate(
      "new Set([...document.querySelectorAll('.filters :is(input, select, .favorites-only)')].map((one) => Math.round(one.getBoundingClientRect().bottom / 20))).size",
    );
    t.is(lines, 2);
    await page.setViewportSize(WIDE);
  }),
);

pageTest(
  'a trader is found by name, and shows a record and picks; others show less, and why is said',
  onDay(async (t, stage) => {
    const { page } = await enter(t, stage, 'Bert', { at: '#/boards', expected: /status of 404/ });
    const find = async (name: string) => {
      await page.getByLabel('Find a trader').fill(name);
      await page.getByRole('button', { name: 'Show', exact: true }).click();
    };
    await find('a');
    await page.getByText('A name of 2 characters or more, or an id.').waitFor();
    await find('aDA');
    await page.getByRole('heading', { level: 1, name: 'Ada' }).waitFor();
    const { trader } = await answered(stage, '/traders/Ada');
    const facts = page.locator('.fact-list');
    for (const text of [
      `+$${trader.pnlDollars.toFixed(2)}`,
      `+${trader.roiPct.toFixed(2)}%`,
      '14 picks settled: 13 won, 0 lost, 1 void.',
    ]) {
      await facts.getByText(text).waitFor();
    }
    await page.getByText('No reset: this is the first run.').waitFor();
    const picks = await rowsOf(page, 'Picks');
    t.is(picks.length, 14);
    t.is(picks.filter(([, , result]) => result === 'Won').length, 13);
    t.is(picks.filter(([, , result]) => result === 'Void').length, 1);
    for (const [, side, , stake] of picks) t.regex(`${side} ${stake}`, /^yes \$\d+\.\d\d$/);

    const visitOf = (name: string) => page.goto(`${stage.pageUrl}#/trader/${name}`);
    await visitOf('Hana');
    await page.getByText('This trader has trades from when the account was private').waitFor();
    t.is((await rowsOf(page, 'Picks')).length, 2);
    t.is(await facts.getByText('not shown').count(), 4);
    t.is(await page.getByRole('button', { name: 'Verify' }).count(), 0);
    await visitOf('Pia');
    await page.getByText('This trader is private: only the name is shown.').waitFor();
    t.is(await page.getByRole('table').count(), 0);
    await visitOf('Nobody');
    await page.getByText('Nobody here has the name or id “Nobody”.').waitFor();
  }),
);

pageTest(
  'A250, A253: a shared link opens the view of its trader, and Share copies such a link',
  onDay(async (t, stage) => {
    const { id } = traders.get('Ada')!;
    const { page, context } = await enter(t, stage, 'Bert', { at: 't/ada' });
    await page.getByRole('heading', { level: 1, name: 'Ada' }).waitFor();
    t.is(page.url(), `${stage.pageUrl}#/trader/ada`, 'what is relative is found from here');
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Share' }).click();
    await page.getByText('The link is copied.').waitFor();
    const link = (await page.evaluate('navigator.clipboard.readText()')) as string;
    t.is(link, `${stage.pageUrl}t/${id}`);
    await page.goto(link);
    await page.getByRole('heading', { level: 1, name: 'Ada' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Ada' }).waitFor();
    await page.goto(`${stage.pageUrl}#/trader/Pia`);
    await page.getByRole('heading', { level: 1, name: 'Pia' }).waitFor();
    t.is(await page.getByRole('button', { name: 'Share' }).count(), 0, 'she is private');
  }),
);

longPageTest(
  'the owner sees which picks others see',
  onDay(async (t, stage) => {
    const { page } = await enter(t, stage, 'Hana', { at: '#/trader/Hana' });
    await page.getByText('You have trades from when you were private').waitFor();
    const seen = (await rowsOf(page, 'Picks')).map((cells) => cells.at(-1));
    t.deepEqual(seen, [
      ...Array(2).fill('Placed while you were public; others see it.'),
      ...Array(2).fill('Placed while you were private; others do not see it.'),
    ]);
  }),
);

pageTest(
  'the signed record is verified in the browser and by the command; a changed byte fails',
  onDay(async (t, stage) => {
    const { page } = await enter(t, stage, 'Bert', { at: '#/trader/Ada' });
    const record = await rowsOf(page, 'Signed record');
    t.true(record.some(([what, value]) => what === 'Settled picks' && value === '14'));
    t.deepEqual(await verdict(page), {
      sentence: 'This record is genuine: it is unchanged since this server signed it.',
      claims: { Signature: 'Holds', Key: 'Holds', Record: 'Holds' },
    });
    const directory = tempDir(t);
    const save = async (control: 'button' | 'link', name: string) => {
      const saved = page.waitForEvent('download');
      await page.getByRole(control, { name }).click();
      const download = await saved;
      const file = path.join(directory, download.suggestedFilename());
      await download.saveAs(file);
      return file;
    };
    const file = await save('button', 'Download the record');
    const keys = await save('link', 'Download the server’s public keys');
    t.regex(path.basename(file), /^track-record-[0-9a-f-]{36}-\d{4}-\d\d-\d\d\.json$/);
    const checked = await runHere(['verify-record', file, '--keys', keys]);
    t.is(checked.code, 0, checked.stderr + checked.stdout);
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace('"settledPicks":14', '"settledPicks":15'),
    );
    t.is((await runHere(['verify-record', file, '--keys', keys])).code, 1);

    const tampered = async (change: (text: string) => string) => {
      const tamper = async (route: Route) => {
        const response = await route.fetch();
        await route.fulfill({ response, body: change(await response.text()) });
      };
      await page.route('**/track-record', tamper);
      await page.reload();
      const found = await verdict(page);
      await page.unroute('**/track-record', tamper);
      return found;
    };
    t.deepEqual(await tampered((text) => text.replace(/("payload":".{40})(.)/, swapped)), {
      sentence: 'This record is not genuine.',
      claims: { Signature: 'Fails', Key: 'Holds', Record: 'Fails' },
    });
    t.deepEqual(await tampered((text) => text.replace('"settledPicks":14', '"settledPicks":15')), {
      sentence: 'This record is not genuine.',
      claims: { Signature: 'Holds', Key: 'Holds', Record: 'Fails' },
    });
  }),
);

function swapped(_: string, before: string, letter: string): string {
  return before + (letter === 'A' ? 'B' : 'A');
}

pageTest(
  'U51: the form of a backtest has every fill model, and says that it has no latency and no queues',
  onDay(async (t, stage) => {
    const { page } = await enter(t, stage, 'Ada', { at: '#/backtest' });
    await page.getByLabel('Fills').selectOption('In the venue’s queue');
    await page.getByText('The history has no queues, and nothing here waits').waitFor();
    await page.getByLabel('Fills').selectOption('As this server fills orders');
    await t.notThrowsAsync(page.getByText('Without latency: ').waitFor());
  }),
);

longPageTest(
  'a backtest runs on settled games; what is wrong is beside its field',
  onDay(async (t, stage) => {
    const { page } = await enter(t, stage, 'Ada', { at: '#/backtest' });
    const button = page.getByRole('button', { name: 'Run the backtest' });
    const lowest = page.getByLabel('Lowest price, ¢');
    await lowest.fill('0');
    await button.click();
    await page.getByText('A whole number of cents from 1 to 99.').waitFor();
    t.true(await lowest.evaluate((input) => input.matches(':focus[aria-invalid]')));
    await lowest.fill('');
    await page.getByLabel('Buy').selectOption('Yes');
    await page.getByLabel('Stake in').selectOption('Contracts');
    await page.getByLabel('Stake a market, contracts').fill('10');
    await page.getByLabel('Fees').selectOption('The taker fee of venue_a');
    await page.getByLabel('Look, minutes before the start').fill(String(LOOK_MINUTES));
    await button.click();
    await page.getByRole('heading', { name: 'Coverage' }).waitFor();

    const { token } = traders.get('Bert')!;
    const body = {
      ...{ markets: {}, rule: { side: 'yes', entryMinutesBeforeStart: LOOK_MINUTES } },
      ...{ stake: { contracts: 10 }, startBalanceDollars: 100_000, fees: 'venue_a' },
    };
    const answer = await ask(token, 'POST', `${stage.baseUrl}/backtest`, body);
    t.is(answer.trades.length, 28);
    const trades = await rowsOf(page, 'Trades');
    t.deepEqual(
      trades.map((cells) =>
        cells
          .slice(0, 6)
          .join(' | ')
          .replace(/ to beat .*? \|/, ' |'),
      ),
      answer.trades.map((trade: Json) =>
        [
          trade.label.split(' to beat ')[0],
          ...[trade.side, trade.contracts, `${trade.entryCents}¢`, `${trade.exitCents}¢`],
          ...[{ won: 'Won', lost: 'Lost', void: 'Void' }[trade.result as 'won']],
        ].join(' | '),
      ),
    );
    await page.getByText(answer.inputHash).waitFor();
    await page.getByText('The history has prices of 28 of 28 settled markets').waitFor();
    const chart = page.getByRole('img', { name: /^Net worth over time\. From \$100,000\.00 to / });
    await chart.locator('canvas').waitFor();
    await chart.press('End');
    await page
      .locator('.chart-values')
      .getByText(/: Net worth \$/)
      .waitFor();

    await admin(stage, 'PUT', '/venue-data', { on: false });
    try {
      await button.click();
      await page.getByText('Venue data is off on this server: trades are shown without').waitFor();
      t.false((await page.getByRole('table', { name: 'Trades' }).innerText()).includes('¢'));
    } finally {
      await admin(stage, 'PUT', '/venue-data', { on: true });
    }
    await page.getByLabel('Highest price, ¢').fill('1');
    await button.click();
    await page.getByText('28: the price was outside the limits of the rule').waitFor();
    await page.getByText('No trade: the reasons stand below.').waitFor();
  }),
);

longPageTest(
  'a backtest can be canceled; ten that run, and another service’s form, are said',
  onDay(async (t, stage) => {
    const { page } = await enter(t, stage, 'Ada', { at: '#/backtest', expected: /status of 503/ });
    const button = page.getByRole('button', { name: 'Run the backtest' });
    const answer = (reply: (route: Route) => unknown) => page.route('**/v1/backtest', reply);
    const held: Route[] = [];
    await answer((route) => held.push(route));
    const ended = page.waitForEvent('requestfailed');
    await button.click();
    await page.getByText(/^Running for \d+ s\. The server takes 1 min at most\.$/).waitFor();
    t.true(await button.isDisabled());
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Canceled. The page waits for it no longer').waitFor();
    t.regex((await ended).url(), /\/v1\/backtest$/);

    await page.unroute('**/v1/backtest');
    const retryAfterSeconds = 5;
    const error = {
      code: 'internal_error',
      message: '10 backtests are running',
      retryAfterSeconds,
    };
    await answer((route) => route.fulfill({ status: 503, json: { error } }));
    await button.click();
    await page.getByRole('alert').getByText('10 backtests are running.').waitFor();
    await page.getByText('Try again in 5 seconds.').waitFor();

    await page.unroute('**/v1/backtest');
    await answer((route) => route.fulfill({ json: { verdict: 'plausible', mode: 'paper' } }));
    await button.click();
    await page.getByText('has answered in its own form:').waitFor();
    t.regex(await page.locator('pre').innerText(), /"verdict": "plausible"/);
  }),
);

/** Each state of the views, and what shows that it is there. */
const STATES: { at: string; is(page: Page): Promise<unknown> }[] = [
  { at: '#/boards', is: (page) => page.getByRole('table', { name: 'Leaderboard' }).waitFor() },
  { at: '#/boards?window=3d', is: (page) => page.getByLabel('Days').waitFor() },
  {
    at: '#/boards?tab=eval',
    is: async (page) => {
      await page.getByText('How to read this board').click();
      await page.getByRole('table', { name: 'Evaluation' }).waitFor();
    },
  },
  {
    at: '#/boards?tab=own',
    is: (page) => page.getByRole('table', { name: 'Your evaluation' }).waitFor(),
  },
  {
    at: '#/boards?tab=verdict',
    is: (page) => page.getByRole('region', { name: 'Verdict' }).waitFor(),
  },
  {
    at: '#/trader/Ada',
    is: async (page) => {
      await page.getByRole('table', { name: 'Picks' }).waitFor();
      await verdict(page);
    },
  },
  { at: '#/trader/Pia', is: (page) => page.getByText('This trader is private').waitFor() },
  { at: '#/trader/Nobody', is: (page) => page.getByText('Nobody here has').waitFor() },
  {
    at: '#/backtest',
    is: async (page) => {
      await page.getByLabel('Lowest price, ¢').fill('x');
      await page.getByRole('button', { name: 'Run the backtest' }).click();
      await page.getByText('A whole number of cents').waitFor();
    },
  },
  {
    at: '#/backtest',
    is: async (page) => {
      await page.getByLabel('Lowest price, ¢').fill('');
      await page.getByLabel('Look, minutes before the start').fill(String(LOOK_MINUTES));
      await page.getByRole('button', { name: 'Run the backtest' }).click();
      await page.locator('.chart canvas').waitFor();
    },
  },
];

longPageTest(
  'boards, traders and backtests are clean to axe, in light and dark, wide and narrow',
  onDay(async (t, stage) => {
    const seen = await enter(t, stage, 'Ada', { at: '#/boards', expected: /status of 404/ });
    for (const { at, is } of STATES) {
      await seen.page.goto(stage.pageUrl + at);
      await is(seen.page);
      t.deepEqual(await faultsInLooks(seen), [], at);
    }
  }),
);

const LONGEST_NAME = 'W'.repeat(64);
const LONGEST_LABEL = 'L'.repeat(300);

pageTest(
  'A122: the longest names widen neither boards, nor the page of their trader, nor a portfolio: they are cut, and have titles',
  onDay(async (t, stage) => {
    const { id } = traders.get('Cleo')!;
    await admin(stage, 'PATCH', `/users/${id}`, { displayName: LONGEST_NAME });
    const { organization } = await admin(stage, 'POST', '/organizations', {
      ...{ slug: 'long', name: LONGEST_NAME },
    });
    await admin(stage, 'PUT', `/organizations/${organization.id}/members`, {
      ...{ userId: traders.get('Ada')!.id, role: 'member' },
    });
    const views = [
      ['#/boards', `.table .name[title="${LONGEST_NAME}"]`],
      ['#/boards?tab=eval', `.eval .name[title="${LONGEST_NAME}"]`],
      [`#/trader/${id}`, `h1[title="${LONGEST_NAME}"]`],
      [`#/portfolio?org=${organization.id}`, `.notice .name[title="${LONGEST_NAME}"]`],
      ['#/portfolio', `.table .name[title="${LONGEST_LABEL}"]`],
    ] as const;
    const seen = await enter(t, stage, 'Ada', { at: '#/boards' });
    const { page } = seen;
    await page.route('**/v1/portfolio/trades?*', async (route) => {
      const response = await route.fetch();
      const text = await response.text();
      const json = text.replaceAll(
        /"instrumentLabel":"[^"]*"/g,
        `"instrumentLabel":"${LONGEST_LABEL}"`,
      );
      await route.fulfill({ response, body: json });
    });
    for (const [at, named] of variantsOfRun(views, 2)) {
      await page.evaluate(`location.hash = ${JSON.stringify(at)}`);
      const name = page.locator(named).first();
      await name.waitFor();
      for (const viewport of [NARROW, { ...NARROW, width: 390 }, WIDE]) {
        const what = `${at}, ${viewport.width}`;
        await page.setViewportSize(viewport);
        t.false(await scrollsSideways(seen), what);
        const { x, width } = (await name.boundingBox())!;
        t.true(x >= 0 && x + width <= viewport.width, what);
        const tables = page.locator('.table-scroll');
        for (const table of await tables.all()) {
          const isWhole = await table.evaluate((one) => one.scrollWidth <= one.clientWidth);
          t.true(isWhole, `a table of ${what}`);
        }
      }
    }
    await admin(stage, 'PATCH', `/users/${id}`, { displayName: 'Cleo' });
  }),
);
