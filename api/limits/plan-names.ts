/** From the least to the most; `none` may open no position. */
export const PLANS = ['none', 'basic', 'builder', 'desk', 'enterprise'] as const;
