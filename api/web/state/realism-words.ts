/** How real the fills of an account are: its choices in words, and its form. Rule U49 (api/RULES.md). */
import type { Realism } from '../../client/generated.js';

export type PresetName = 'simple' | 'realistic';

/** As the server has them. */
export const PRESET_PARTS: Readonly<Record<PresetName, Realism>> = {
  simple: {
    ...{ model: 'server', latencyMs: { min: 0, max: 0 } },
    ...{ fees: 'none', liquidity: 'account' },
  },
  realistic: {
    ...{ model: 'queue', latencyMs: { min: 150, max: 150 } },
    ...{ fees: 'venue', liquidity: 'market' },
  },
};

/** Null: it is nobody's preset. */
export function presetOf(realism: Realism): PresetName | null {
  const same = (name: PresetName) => textOf(PRESET_PARTS[name]) === textOf(realism);
  return same('simple') ? 'simple' : same('realistic') ? 'realistic' : null;
}

function textOf({ model, latencyMs: { min, max }, fees, liquidity }: Realism): string {
  return [model, min, max, fees, liquidity].join(' ');
}

export const PRESET_WORDS: Readonly<Record<PresetName, { label: string; words: string }>> = {
  simple: {
    label: 'Simple',
    words:
      'An order meets the book at once, pays no fees, and fills as this server fills orders. It costs you nothing, so results may look better than at a venue.',
  },
  realistic: {
    label: 'Realistic',
    words:
      'An order arrives 150 ms later, waits in the venue’s queue, pays the venue’s fees, and shares displayed sizes with all who chose so. It costs you fills that a venue would not have given, the fees, and prices that have moved.',
  },
};

export const OWN_WORDS = 'Each part by itself.';

type Option<Value> = { value: Value; text: string; hint: string };

/** Each with what it costs. */
export const MODEL_OPTIONS: readonly Option<Realism['model']>[] = [
  {
    value: 'server',
    text: 'As this server fills orders',
    hint: 'The operator has chosen. It costs what that model costs.',
  },
  {
    value: 'top_of_book',
    text: 'All at the best price',
    hint: 'It costs nothing: any size fills at the best price.',
  },
  {
    value: 'book_depth',
    text: 'By the sizes displayed',
    hint: 'A large order pays the next levels, or waits.',
  },
  {
    value: 'queue',
    text: 'In the venue’s queue',
    hint: 'A large order pays the next levels. An order that rests fills only after those that were there before it.',
  },
];
export const FEE_OPTIONS: readonly Option<Realism['fees']>[] = [
  { value: 'none', text: 'None', hint: 'Results tell the fees beside the profit.' },
  {
    value: 'venue',
    text: 'The venue’s',
    hint: 'Each fill pays them by the dated table. They leave your balance, and count in every board.',
  },
];
export const LIQUIDITY_OPTIONS: readonly Option<Realism['liquidity']>[] = [
  {
    value: 'account',
    text: 'For this account alone',
    hint: 'What others have taken is still there for you.',
  },
  {
    value: 'market',
    text: 'Once for all who chose so',
    hint: 'What another of them has taken is gone for you.',
  },
];
export const LATENCY_HINT =
  'Milliseconds until an order meets the book. It costs prices that move meanwhile.';

/** As it is typed. */
export type RealismForm = Omit<Realism, 'latencyMs'> & { fromMs: string; toMs: string };

export function formOf({ latencyMs: { min, max }, ...parts }: Realism): RealismForm {
  return { ...parts, fromMs: String(min), toMs: String(max) };
}

const LATENCY_MAX_MS = 60_000;

export type RealismErrors = { fromMs?: string; toMs?: string };

/** What a form means, or the problem of each field. */
export function realismIn({ fromMs, toMs, ...parts }: RealismForm) {
  const [min, max] = [milliseconds(fromMs), milliseconds(toMs)];
  const what = 'A whole number from 0 to 60,000.';
  const errors: RealismErrors = {
    ...(min === null && { fromMs: what }),
    ...(max === null && { toMs: what }),
    ...(min !== null && max !== null && min > max && { toMs: 'Not below the first one.' }),
  };
  if (min === null || max === null || min > max) return { errors };
  return { realism: { ...parts, latencyMs: { min, max } } };
}

function milliseconds(text: string): number | null {
  const value = /^\d{1,5}$/.test(text.trim()) ? Number(text) : Number.NaN;
  return value <= LATENCY_MAX_MS ? value : null;
}
