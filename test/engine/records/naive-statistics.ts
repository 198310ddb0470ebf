/**
 * The same statistics, written to be obviously right: whole matrices in place of sums, and a
 * resampling in place of a formula.
 */
import { seededRandom } from '../../../bench/lib/random.ts';

/** A game's rows. */
export type Games = readonly (readonly number[])[];

type Matrix = number[][];

export function gameSums(games: Games) {
  return {
    counts: Float64Array.from(games, (rows) => rows.length),
    sums: Float64Array.from(games, (rows) => rows.reduce((sum, row) => sum + row, 0)),
    from: 0,
    end: games.length,
  };
}

export function meanOf(games: Games): number {
  const rows = games.flat();
  return rows.reduce((sum, row) => sum + row, 0) / rows.length;
}

/**
 * CR2 as Bell and McCaffrey write it, for a regression on a column of ones. The adjustment matrix
 * of each game is the inverse root of its block of I - H. The degrees of freedom are the degrees of
 * the quadratic form whose matrix is written out.
 */
export function cr2ByMatrices(games: Games) {
  const y = games.flat();
  const n = y.length;
  const residualMaker = matrix(n, n, (row, column) => (row === column ? 1 : 0) - 1 / n);
  const residuals = residualMaker.map((row) => dot(row, y));
  const weights: number[][] = [];
  let variance = 0;
  let first = 0;
  for (const { length } of games) {
    const block = matrix(
      length,
      length,
      (row, column) => residualMaker[first + row]![first + column]!,
    );
    const adjust = inverseRoot(block);
    const own = residuals.slice(first, first + length);
    const adjusted = adjust.map((row) => dot(row, own));
    variance += (adjusted.reduce((sum, value) => sum + value, 0) / n) ** 2;
    const ones = adjust.map((row) => row.reduce((sum, value) => sum + value, 0) / n);
    const whole = y.map((_, at) => ones[at - first] ?? 0);
    // As a function of y: the transpose of (I - H) times the game's weights.
    weights.push(residualMaker.map((row) => dot(row, whole)));
    first += length;
  }
  const form = matrix(games.length, games.length, (g, h) => dot(weights[g]!, weights[h]!));
  const trace = form.reduce((sum, row, at) => sum + row[at]!, 0);
  const squared = form.flat().reduce((sum, value) => sum + value * value, 0);
  return { standardError: Math.sqrt(variance), degrees: (trace * trace) / squared };
}

const STEPS = 2000;
const HALVINGS = 60;

/** The 97.5% quantile of Student's t: x = √n·tan θ makes its density cos^(n-1) θ, up to a factor. */
export function t95ByIntegral(degrees: number): number {
  const mass = (to: number) => {
    const step = to / STEPS;
    let sum = 0;
    for (let at = 0; at <= STEPS; at++) {
      const weight = at === 0 || at === STEPS ? 1 : at % 2 === 0 ? 2 : 4;
      sum += weight * Math.cos(at * step) ** (degrees - 1);
    }
    return (sum * step) / 3;
  };
  const half = mass(Math.PI / 2);
  let [low, high] = [0, Math.PI / 2];
  for (let halving = 0; halving < HALVINGS; halving++) {
    const middle = (low + high) / 2;
    if (mass(middle) < 0.95 * half) low = middle;
    else high = middle;
  }
  return Math.sqrt(degrees) * Math.tan(low);
}

/** The standard deviation of the mean over samples of whole games, drawn with replacement. */
export function bootstrapError(games: Games, samples: number, seed: number): number {
  const random = seededRandom(seed);
  const means: number[] = [];
  for (let sample = 0; sample < samples; sample++) {
    means.push(meanOf(games.map(() => games[random.below(games.length)]!)));
  }
  const mean = means.reduce((sum, value) => sum + value, 0) / samples;
  const squares = means.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / (samples - 1));
}

function matrix(rows: number, columns: number, valueAt: (row: number, column: number) => number) {
  return Array.from({ length: rows }, (_, row) =>
    Array.from({ length: columns }, (_, column) => valueAt(row, column)),
  );
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, at) => sum + value * b[at]!, 0);
}

/** The inverse square root of a symmetric matrix, by Jacobi's rotations to its eigenvectors. */
function inverseRoot(symmetric: Matrix): Matrix {
  const size = symmetric.length;
  const a = symmetric.map((row) => [...row]);
  const vectors = matrix(size, size, (row, column) => (row === column ? 1 : 0));
  for (let sweep = 0; sweep < 60; sweep++) {
    for (let p = 0; p < size; p++) {
      for (let q = p + 1; q < size; q++) rotate(a, vectors, p, q);
    }
  }
  return matrix(size, size, (row, column) =>
    a.reduce(
      (sum, _, at) => sum + (vectors[row]![at]! * vectors[column]![at]!) / Math.sqrt(a[at]![at]!),
      0,
    ),
  );
}

function rotate(a: Matrix, vectors: Matrix, p: number, q: number): void {
  if (Math.abs(a[p]![q]!) < 1e-18) return;
  const angle = 0.5 * Math.atan2(2 * a[p]![q]!, a[q]![q]! - a[p]![p]!);
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  for (let k = 0; k < a.length; k++) {
    const [kp, kq] = [a[k]![p]!, a[k]![q]!];
    a[k]![p] = cos * kp - sin * kq;
    a[k]![q] = sin * kp + cos * kq;
  }
  for (let k = 0; k < a.length; k++) {
    const [pk, qk] = [a[p]![k]!, a[q]![k]!];
    a[p]![k] = cos * pk - sin * qk;
    a[q]![k] = sin * pk + cos * qk;
  }
  for (const row of vectors) {
    const [vp, vq] = [row[p]!, row[q]!];
    row[p] = cos * vp - sin * vq;
    row[q] = sin * vp + cos * vq;
  }
}
