/** `paperbook admin realism`, and the options of a realism. Rules A140, A142 (api/RULES.md). */
import { Argument, type Command, Option } from 'commander';
import { LIQUIDITIES } from '../../engine/base/units.ts';
import { FEE_CHOICES, PRESETS, REALISM_MODELS } from '../../engine/rules/realism.ts';
import type { RealismChange } from '../schemas/realism.ts';
import { ask, type Connect, connected, print } from './admin-connection.ts';
import { UsageError } from './usage.ts';

export type RealismFlags = { model?: string; latency?: string; fees?: string; liquidity?: string };

export function presetArgument(): Argument {
  return new Argument('[preset]', 'a preset').choices(Object.keys(PRESETS));
}

/** The options that change a part of it. */
export function withRealismFlags(command: Command): Command {
  return command
    .addOption(new Option('--model <model>', 'fill model').choices(REALISM_MODELS))
    .option('--latency <ms>', 'latency: 150, or 100-250 for a range')
    .addOption(new Option('--fees <fees>', 'fees of fills').choices(FEE_CHOICES))
    .addOption(new Option('--liquidity <who>', 'who shares displayed sizes').choices(LIQUIDITIES));
}

/** Undefined: nothing is to be changed. */
export function realismChange(
  preset: string | undefined,
  { model, latency, fees, liquidity }: RealismFlags,
): RealismChange | undefined {
  const latencyMs = latency === undefined ? undefined : rangeOf(latency);
  const parts = Object.entries({ model, latencyMs, fees, liquidity }).filter(
    ([, value]) => value !== undefined,
  );
  if (preset === undefined) {
    return parts.length === 0 ? undefined : (Object.fromEntries(parts) as RealismChange);
  }
  if (parts.length > 0) throw new UsageError('name a preset or parts, not both');
  return preset as RealismChange;
}

function rangeOf(text: string): { min: number; max: number } {
  const [, min, max = min] = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(text) ?? [];
  if (min === undefined) throw new UsageError(`--latency is 150 or 100-250, not ${text}`);
  return { min: Number(min), max: Number(max) };
}

export function addRealismCommand(admin: Command): void {
  withRealismFlags(
    connected(
      admin
        .command('realism')
        .description("show or set how real an account's fills are")
        .argument('<accountId>', 'a user, or an organization')
        .addArgument(presetArgument()),
    ),
  ).action(async (id: string, preset: string | undefined, options: Connect & RealismFlags) => {
    const realism = realismChange(preset, options);
    const path = `/admin/realism/${encodeURIComponent(id)}`;
    print(
      options,
      realism === undefined
        ? await ask(options, 'GET', path)
        : await ask(options, 'PUT', path, { realism }),
    );
  });
}
