/**
 * The headers of responses: which ones a response has follows from the route's access and the
 * status. Rules A71, A110, Q9, Q10 (api/RULES.md).
 */
import type { ErrorCode } from '../base/errors.ts';
import type { Access } from '../dispatch/route.ts';
import { GUARDING_HEADERS, HSTS_VALUE, NO_PAGE } from '../http/guarding-headers.ts';
import { PlanSchema } from '../schemas/identity.ts';
import { reference } from './parts.ts';

type Header = { name: string; description: string; schema: object };

const WHOLE = { type: 'integer', minimum: 0 };
const OF_ORDERS =
  'Answers of the engine to orders and cancels have their hard trade limits, too. These are ' +
  'key-minute, key-day, account-minute and account-day. For sells and cancels they are ' +
  'key-closing-minute and account-closing-minute. They may be on a second line of the field.';
const DRAFT = 'A list of items, as draft-ietf-httpapi-ratelimit-headers-11 has it.';

/** On every answer, for every caller. */
const ANYWHERE: Header[] = [
  {
    name: 'X-Request-Id',
    description: "The request's own X-Request-Id, or a new one.",
    schema: { type: 'string', pattern: '^[!-~]{1,128}$' },
  },
  {
    name: 'Cache-Control',
    description: 'no-store, or the seconds that the answer may be cached.',
    schema: { type: 'string', pattern: '^(no-store|max-age=\\d+)$' },
  },
  {
    name: 'RateLimit-Limit',
    description: "Requests per UTC minute: the plan's; without a key, 60 an address.",
    schema: WHOLE,
  },
  {
    name: 'RateLimit-Remaining',
    description: 'Requests left in this minute. Without a key it is advice.',
    schema: WHOLE,
  },
  { name: 'RateLimit-Reset', description: 'Seconds until the minute ends.', schema: WHOLE },
  {
    name: 'RateLimit-Policy',
    description: `Every limit, and its window in seconds. ${OF_ORDERS} ${DRAFT}`,
    schema: { type: 'string', pattern: '^"[\\w-]+";q=\\d+;w=\\d+(, "[\\w-]+";q=\\d+;w=\\d+)*$' },
  },
  {
    name: 'RateLimit',
    description: `The rest of every limit, and the seconds to its reset. ${OF_ORDERS} ${DRAFT}`,
    schema: { type: 'string', pattern: '^"[\\w-]+";r=\\d+;t=\\d+(, "[\\w-]+";r=\\d+;t=\\d+)*$' },
  },
];

/** The headers that guard it, for every caller. Rule A14. */
const GUARDING: Header[] = [
  ...Object.entries(GUARDING_HEADERS),
  ['Content-Security-Policy', NO_PAGE] as const,
].map(([name, value]) => ({
  name,
  description: 'Same value on every answer.',
  schema: { type: 'string', const: value },
}));

const HSTS: Header = {
  name: 'Strict-Transport-Security',
  description: 'Over HTTPS.',
  schema: { type: 'string', const: HSTS_VALUE },
};
const DISPOSITION: Header = {
  name: 'Content-Disposition',
  description: 'Suggested file name.',
  schema: { type: 'string' },
};

/** On every answer to a valid key or session. */
const KEYED: Header[] = [
  {
    name: 'Service-Plan',
    description: "The plan of the caller's account.",
    schema: { type: 'string', enum: PlanSchema.enum },
  },
  { name: 'Service-Quota-Limit', description: 'Requests per UTC month.', schema: WHOLE },
  { name: 'Service-Quota-Remaining', description: 'Requests left in this month.', schema: WHOLE },
  {
    name: 'Service-Quota-Reset',
    description: 'Seconds until 00:00 UTC on the 1st.',
    schema: WHOLE,
  },
];

const AUTHENTICATE: Header = {
  name: 'WWW-Authenticate',
  description: 'The error of the credential, or the missing scope (RFC 6750).',
  schema: { type: 'string', pattern: '^Bearer( |$)' },
};
const RETRY_AFTER: Header = {
  name: 'Retry-After',
  description: 'Seconds to wait; error.retryAfterSeconds is the same number.',
  schema: { type: 'integer', minimum: 1 },
};

/**
 * Errors that occur both before and after the caller is known: two keys at once or a bad query, a
 * bad key or one that ended during its request, a guest or a missing scope, an unknown organization
 * or an unknown path, an auth server or an engine that cannot be reached.
 */
const MAYBE_KEYED = [400, 401, 403, 404, 500, 503];

/**
 * The headers of a response, as references. A success has no `codes`.
 *
 * @param isFile whether it is to be stored
 */
export function headersOf(
  access: Access,
  status: number,
  codes: readonly ErrorCode[],
  isFile = false,
) {
  const headers: Record<string, { $ref: string }> = {};
  const add = (added: Header[], isSure = true) => {
    for (const { name } of added) headers[name] = reference('headers', componentName(name, isSure));
  };
  add(ANYWHERE);
  add(GUARDING);
  add([HSTS], false);
  if (isFile) add([DISPOSITION], false);
  if (access === 'key') add(KEYED, !MAYBE_KEYED.includes(status));
  if (status === 401) add([AUTHENTICATE]);
  if (codes.includes('insufficient_scope')) add([AUTHENTICATE], false);
  if (isPassing(status)) add([RETRY_AFTER], !codes.includes('not_configured'));
  return headers;
}

/** Whether refusals with this status state how many seconds to wait: all but `not_configured`. */
export function isPassing(status: number): boolean {
  return status === 429 || status === 503;
}

/** A table of the headers of answers, for the introduction. Rule A169 (api/RULES.md). */
export function headersTable(): string {
  const groups = [
    ['every answer', [...ANYWHERE, HSTS]],
    ['an answer to a key or a session', KEYED],
    ['some answers', [AUTHENTICATE, RETRY_AFTER, DISPOSITION]],
  ] as const;
  const rows = groups.flatMap(([where, headers]) =>
    headers.map(({ name, description }) => `| \`${name}\` | ${where} | ${description} |`),
  );
  return ['| header | on | content |', '| --- | --- | --- |', ...rows].join('\n');
}

/** Under `components`: headers always present, and headers of only some answers of a status. */
export const HEADER_COMPONENTS = Object.fromEntries([
  ...[...ANYWHERE, ...GUARDING, ...KEYED, AUTHENTICATE, RETRY_AFTER].map((header) => {
    return component(header, true);
  }),
  ...[HSTS, DISPOSITION, ...KEYED, AUTHENTICATE, RETRY_AFTER].map((header) => {
    return component(header, false);
  }),
]);

function component({ name, description, schema }: Header, isSure: boolean) {
  return [componentName(name, isSure), { required: isSure, description, schema }] as const;
}

function componentName(header: string, isSure: boolean): string {
  const name = header.replaceAll('-', '');
  return isSure ? name : `${name}IfAny`;
}
