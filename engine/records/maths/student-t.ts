/**
 * Quantiles of Student's t, for degrees of freedom that need not be whole. Rule Y43
 * (engine/RULES.md).
 */
import { invariant } from '../../base/invariant.ts';

/** The normal quantile of a two-sided interval of 95%. */
const Z_95 = 1.959963984540054;
/** Of the probability outside the interval. */
const OUTSIDE = 0.05;
/** From here on the expansion alone is exact to 1e-12. */
const EXPANSION_FROM = 1000;
const STEPS_MAX = 60;
const TERMS_MAX = 10_000;
const PRECISION = 1e-15;
/** Keeps the continued fraction from dividing by zero. */
const TINY = 1e-300;

/**
 * How many standard errors a two-sided interval of 95% reaches to each side: the 97.5% quantile of
 * Student's t. Exact to about 1e-12. Newton's steps on the distribution function, from the
 * expansion of Abramowitz and Stegun, 26.7.5.
 */
export function studentT95(degrees: number): number {
  invariant(degrees > 0, 'degrees of freedom are not above zero');
  if (degrees >= EXPANSION_FROM) return expansion95(degrees);
  // ln B(1/2, degrees/2), which both the tail and its slope need.
  const logBeta = logGamma(0.5) + logGamma(degrees / 2) - logGamma((degrees + 1) / 2);
  let low = Z_95;
  let high = Number.POSITIVE_INFINITY;
  let t = Math.max(low, degrees >= 3 ? expansion95(degrees) : 4);
  for (let step = 0; step < STEPS_MAX; step++) {
    const outside = outsideT(t, degrees, logBeta);
    if (outside > OUTSIDE) low = t;
    else high = t;
    const slope = 2 * densityT(t, degrees, logBeta);
    let next = t + (outside - OUTSIDE) / slope;
    if (next < low || next > high) next = Number.isFinite(high) ? (low + high) / 2 : 2 * t;
    if (Math.abs(next - t) <= 1e-9 * t) return next;
    t = next;
  }
  return t;
}

/** Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.5, at 97.5%. */
function expansion95(n: number): number {
  const z = Z_95;
  const z2 = z * z;
  const g1 = (z * (z2 + 1)) / 4;
  const g2 = (z * ((5 * z2 + 16) * z2 + 3)) / 96;
  const g3 = (z * (((3 * z2 + 19) * z2 + 17) * z2 - 15)) / 384;
  const g4 = (z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945)) / 92_160;
  return z + (g1 + (g2 + (g3 + g4 / n) / n) / n) / n;
}

function densityT(t: number, degrees: number, logBeta: number): number {
  const exponent = (degrees + 1) / 2;
  return Math.exp(-exponent * Math.log1p((t * t) / degrees) - logBeta) / Math.sqrt(degrees);
}

/** The probability outside of -t to t: the regularized incomplete beta function, DLMF 8.17. */
function outsideT(t: number, degrees: number, logBeta: number): number {
  const a = degrees / 2;
  const b = 0.5;
  const x = degrees / (degrees + t * t);
  const y = (t * t) / (degrees + t * t);
  const front = Math.exp(a * Math.log(x) + b * Math.log(y) - logBeta);
  // DLMF 8.17.22 converges fast below this; above it 8.17.4 turns the function round.
  return x < (a + 1) / (a + b + 2)
    ? (front * betaFraction(a, b, x)) / a
    : 1 - (front * betaFraction(b, a, y)) / b;
}

/** The continued fraction of DLMF 8.17.22, by the method of Lentz (Applied Optics 15, 1976). */
function betaFraction(a: number, b: number, x: number): number {
  let c = 1;
  let d = 1 - ((a + b) * x) / (a + 1);
  d = 1 / nonZero(d);
  let value = d;
  for (let m = 1; m < TERMS_MAX; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / nonZero(1 + even * d);
    c = nonZero(1 + even / c);
    value *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / nonZero(1 + odd * d);
    c = nonZero(1 + odd / c);
    const factor = d * c;
    value *= factor;
    if (Math.abs(factor - 1) < PRECISION) break;
  }
  return value;
}

function nonZero(value: number): number {
  return Math.abs(value) < TINY ? TINY : value;
}

/** Coefficients of Lanczos' series (SIAM J. Numer. Anal. 1, 1964) for g = 7 and nine terms. */
const LANCZOS_G = 7;
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
  -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6,
  1.5056327351493116e-7,
];
const HALF_LOG_2_PI = 0.9189385332046727;

/** ln of the gamma function. */
function logGamma(x: number): number {
  invariant(x > 0, 'the gamma function is asked at or below zero');
  if (x < 0.5) return logGamma(x + 1) - Math.log(x);
  let sum = LANCZOS[0]!;
  for (let at = 1; at < LANCZOS.length; at++) sum += LANCZOS[at]! / (x - 1 + at);
  const t = x - 1 + LANCZOS_G + 0.5;
  return HALF_LOG_2_PI + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}
