/** Wire schemas of an account's realism. Rules A140 to A142 (api/RULES.md). */
import { type Static, Type } from '@sinclair/typebox';
import { LIQUIDITIES } from '../../engine/base/units.ts';
import {
  FEE_CHOICES,
  LATENCY_MAX_MS,
  PRESETS,
  type PresetName,
  REALISM_MODELS,
} from '../../engine/rules/realism.ts';
import { oneOf, strict } from '../base/common-schemas.ts';

const Milliseconds = Type.Integer({ minimum: 0, maximum: LATENCY_MAX_MS });
const PARTS = {
  model: oneOf(REALISM_MODELS, {
    description: 'Fill model of its orders; server: the model of the server.',
  }),
  latencyMs: strict(
    { min: Milliseconds, max: Milliseconds },
    { description: 'How long after its acceptance an order meets the book.' },
  ),
  fees: oneOf(FEE_CHOICES, { description: "venue: fills cost the venue's fees." }),
  liquidity: oneOf(LIQUIDITIES, {
    description: 'market: displayed sizes fill once for all accounts of this choice.',
  }),
};

/** What an account has chosen for the orders that it places from now on. */
export const RealismSchema = strict(PARTS, { title: 'Realism' });

export const PresetSchema = oneOf(Object.keys(PRESETS) as PresetName[], {
  title: 'RealismPreset',
});
/** Parts to change; the others stay. */
export const RealismPartsSchema = Type.Partial(strict(PARTS));

export type RealismChange = PresetName | Static<typeof RealismPartsSchema>;

/** A preset by its name, or parts to change. */
export const RealismChangeSchema = Type.Unsafe<RealismChange>({
  description: 'A preset, or the parts to change. It counts for orders placed afterwards.',
  anyOf: [PresetSchema, RealismPartsSchema],
});
