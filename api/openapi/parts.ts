/** Parameters, headers and credentials that operations share. SPEC.md sections 4, 5 and 8. */
import type { Access } from '../route.ts';

/** Names of the shared parameters under `components`. */
export const PARAMETERS = { organization: 'ServiceOrg', requestId: 'RequestId' } as const;

/** The credentials that each will do, by the names of their schemes. */
export const SECURITY: Record<Access, readonly string[]> = {
  open: [],
  visitor: [],
  key: ['bearerKey', 'serviceKey'],
  session: ['sessionBearer', 'sessionCookie'],
};

type HeaderNames = Readonly<Record<string, string>>;

/** Headers of every response, by the name of their component. SPEC.md section 8. */
export const ALWAYS: HeaderNames = {
  'X-Request-Id': 'RequestId',
  'RateLimit-Limit': 'RateLimitLimit',
  'RateLimit-Remaining': 'RateLimitRemaining',
  'RateLimit-Reset': 'RateLimitReset',
  'RateLimit-Policy': 'RateLimitPolicy',
  RateLimit: 'RateLimit',
};

/** Headers of responses to a key that was found good. */
export const OF_KEY: HeaderNames = {
  'Service-Quota-Limit': 'QuotaLimit',
  'Service-Quota-Remaining': 'QuotaRemaining',
  'Service-Quota-Reset': 'QuotaReset',
  'Service-Plan': 'ServicePlan',
};

type Reference = { $ref: string };

export function parameter(name: string): Reference {
  return { $ref: `#/components/parameters/${name}` };
}

export function referTo(headers: HeaderNames): Record<string, Reference> {
  const references = Object.entries(headers).map(([name, component]) => {
    return [name, { $ref: `#/components/headers/${component}` }];
  });
  return Object.fromEntries(references);
}

const REQUEST_ID = { type: 'string', pattern: '^[!-~]{1,128}$' };
const COUNT = { type: 'integer', minimum: 0 };

export const SHARED = {
  parameters: {
    [PARAMETERS.organization]: {
      name: 'X-Service-Org',
      in: 'header',
      required: false,
      description:
        "Id of an organization: the call is about its paper sandbox, not about the key owner's " +
        'personal account.',
      schema: { type: 'string', format: 'uuid' },
    },
    [PARAMETERS.requestId]: {
      name: 'X-Request-Id',
      in: 'header',
      required: false,
      description: 'Comes back on the response; without it a new one is made.',
      schema: REQUEST_ID,
    },
  },
  headers: {
    RequestId: header("The request's own X-Request-Id, or a new one.", REQUEST_ID),
    CacheControl: header('no-store, or how many seconds the answer may be kept.', {
      type: 'string',
      pattern: '^(no-store|max-age=\\d+)$',
    }),
    Authenticate: header('What is wrong with the credential. RFC 6750.', {
      type: 'string',
      pattern: '^Bearer',
    }),
    RetryAfter: header('Seconds to wait; error.retryAfterSeconds is the same number.', {
      type: 'integer',
      minimum: 1,
    }),
    RateLimitLimit: header('Requests a minute: of the plan, or advisory by address.', COUNT),
    RateLimitRemaining: header('Requests left in this minute.', COUNT),
    RateLimitReset: header('Seconds until the minute ends.', COUNT),
    RateLimitPolicy: header('The same limits. draft-ietf-httpapi-ratelimit-headers-11.', {
      type: 'string',
    }),
    RateLimit: header('What is left of them. draft-ietf-httpapi-ratelimit-headers-11.', {
      type: 'string',
    }),
    QuotaLimit: header('Requests a UTC month of the plan.', COUNT),
    QuotaRemaining: header('Requests left in this month.', COUNT),
    QuotaReset: header('Seconds until 00:00 UTC on the 1st.', COUNT),
    ServicePlan: header("The account's plan.", {
      type: 'string',
      enum: ['none', 'basic', 'builder', 'desk', 'enterprise'],
    }),
  },
  securitySchemes: {
    bearerKey: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'svc_sk_ and 43 base64url characters',
      description: 'An API key. The scopes of an operation are those that the key must hold.',
    },
    serviceKey: {
      type: 'apiKey',
      in: 'header',
      name: 'x-service-key',
      description: 'The same key, for clients that cannot set Authorization.',
    },
    sessionBearer: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: "The access token of a person's session, from /auth/v1. Never a key.",
    },
    sessionCookie: {
      type: 'apiKey',
      in: 'cookie',
      name: 'sb-access-token',
      description: 'The same token as a cookie: on JSON requests of the same origin only.',
    },
  },
};

function header(description: string, schema: object) {
  return { required: true, description, schema };
}
