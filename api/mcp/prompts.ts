/** Prompts: texts that lead a language model through a task, step by step. Rule A181 (api/RULES.md). */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

export type Prompt = {
  name: string;
  title: string;
  description: string;
  arguments: readonly { name: string; description: string; required: boolean }[];
  /** Tools without which the prompt is absent. */
  needs: readonly string[];
  /** An argument takes the place of its `{name}`. */
  text: string;
};

export const PROMPTS: readonly Prompt[] = [
  {
    name: 'test_a_strategy',
    title: 'Test a strategy',
    description: 'From an idea to evidence: backtest, paper orders, scores.',
    arguments: [
      { name: 'strategy', description: 'The idea, in your words.', required: true },
      { name: 'league', description: 'A league of search_markets.', required: false },
    ],
    needs: ['run_backtest', 'search_markets', 'get_eval'],
    text: [
      'Test this strategy on Paperbook: {strategy}',
      'League: {league}',
      '',
      '1. Restate it as a rule with a side, a price range, a time of entry and a stake.',
      '2. Call run_backtest with that rule. Report trades, profit after fees and drawdown. If fewer',
      '   than 30 games matched, say that the result proves little.',
      '3. Name one change that could make the result look good by chance. Test the rule without it.',
      '4. Find games that the rule would trade now with search_markets and get_quotes.',
      '5. Preview each order. If place_order is there, ask me before you place any.',
      '6. Once games have settled, call get_verdict and get_eval. Report closing line value and',
      '   profit together. Call it an edge only if get_verdict does.',
    ].join('\n'),
  },
  {
    name: 'review_my_trading',
    title: 'Review my trading',
    description: 'What was earned, how, and whether skill shows in it.',
    arguments: [],
    needs: ['get_portfolio', 'list_trades', 'get_eval'],
    text: [
      'Review my paper trading.',
      '',
      '1. Call get_portfolio, list_trades and get_eval.',
      '2. Report net worth, the open risk by game, and profit of settled trades.',
      '3. Compare my stated probabilities and entry prices with results and closing lines.',
      '4. Name my most costly habit, with the trades that show it.',
    ].join('\n'),
  },
];

/** The text with its arguments. Throws `InvalidParams` if one is missing or unknown. */
export function promptText(prompt: Prompt, given: Record<string, string>): string {
  const { name, arguments: taken, text } = prompt;
  const unknown = Object.keys(given).find((one) => !taken.some((known) => known.name === one));
  if (unknown !== undefined) {
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `${name} takes no argument ${unknown}`,
    );
  }
  const missing = taken.find((one) => one.required && !given[one.name]);
  if (missing !== undefined) {
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `${name} needs the argument ${missing.name}`,
    );
  }
  return text.replaceAll(/\{(\w+)\}/g, (_whole, one: string) => given[one] ?? 'any');
}
