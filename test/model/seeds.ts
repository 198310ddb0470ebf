/**
 * How many seeds a slow test takes: `SEED=17` that one alone, `SEEDS_PERCENT=20` a fifth of them,
 * for a quick look, and `SEEDS_PERCENT=1000` ten times as many, for a long one.
 */
export function seedsOfRun(usual: number): number[] {
  const { SEED } = process.env;
  if (SEED !== undefined) return [Number(SEED)];
  return Array.from({ length: shareOf(usual) }, (_, index) => 1 + index);
}

/** A number of seeds or tries under the budget; 1 at least. */
export function shareOf(usual: number): number {
  const percent = Number(process.env.SEEDS_PERCENT ?? 100);
  if (!(percent > 0)) throw new Error(`SEEDS_PERCENT must be above 0, not ${percent}`);
  return Math.max(1, Math.round((usual * percent) / 100));
}

/**
 * An audit of everything costs as much as the step before it. A check of each change takes it after
 * every fifth step, except of a seed that is asked for; what is wrong stays so.
 */
export function isAudited(step: number): boolean {
  return process.env.SEED !== undefined || shareOf(100) >= 100 || step % 5 === 4;
}

/**
 * Variants of one test: all of them in a long run. A check of each change takes the first `some`,
 * so the variant that reaches most is first.
 */
export function variantsOfRun<T>(all: readonly T[], some = 1): readonly T[] {
  return shareOf(100) < 100 ? all.slice(0, some) : all;
}
