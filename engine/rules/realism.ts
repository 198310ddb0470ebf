/**
 * How much an account's orders are like orders at a venue: its choice. Browsers know it by the
 * types of schemas. Rules T158, T159 (engine/RULES.md).
 */

import { FILL_MODELS, type FillModelName, type Liquidity } from '../base/units.ts';

/** `server`: the model of PAPERBOOK_FILL_MODEL. */
export const REALISM_MODELS = ['server', ...FILL_MODELS] as const;
export type RealismModel = (typeof REALISM_MODELS)[number];

/** Whether a choice is another model than the server's. */
export function isOtherModel(model: RealismModel, server: FillModelName): boolean {
  return model !== 'server' && model !== server;
}

export const FEE_CHOICES = ['none', 'venue'] as const;

/** An account's choice, for the orders that it places from now on. */
export type Realism = {
  model: RealismModel;
  /** An order meets the book so much later than it was accepted, from `min` to `max`. */
  latencyMs: { min: number; max: number };
  fees: (typeof FEE_CHOICES)[number];
  /** Who shares displayed sizes: the orders of one account, or of all accounts of this choice. */
  liquidity: Liquidity;
};

/** Longer than any connection takes. */
export const LATENCY_MAX_MS = 60_000;

export const PRESETS = {
  simple: {
    model: 'server',
    latencyMs: { min: 0, max: 0 },
    fees: 'none',
    liquidity: 'account',
  },
  realistic: {
    model: 'queue',
    latencyMs: { min: 150, max: 150 },
    fees: 'venue',
    liquidity: 'market',
  },
} as const satisfies Record<string, Realism>;
export type PresetName = keyof typeof PRESETS;

/** Whether these are the parts of a preset. */
export function isPreset({ model, latencyMs, fees, liquidity }: Realism, name: PresetName) {
  const preset = PRESETS[name];
  return (
    model === preset.model &&
    latencyMs.min === preset.latencyMs.min &&
    latencyMs.max === preset.latencyMs.max &&
    fees === preset.fees &&
    liquidity === preset.liquidity
  );
}
