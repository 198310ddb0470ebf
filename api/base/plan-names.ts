/** From the lowest to the highest; `none` may open no position. */
export const PLANS = ['none', 'basic', 'builder', 'desk', 'enterprise'] as const;
