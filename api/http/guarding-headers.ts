/** The headers that guard every answer. Rule A14 (api/RULES.md). */

/**
 * Sent with every answer. No other origin can embed an answer, and a followed link does not
 * disclose the address.
 */
export const GUARDING_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

/** The policy of answers that are not a page: they load nothing, and nothing may frame them. */
export const NO_PAGE = "default-src 'none'; frame-ancestors 'none'";

/** Strict-Transport-Security over HTTPS: a year. */
export const HSTS_VALUE = 'max-age=31536000';
