/** Parameters and credentials that operations share. Rules A20, I2, I20 (api/RULES.md). */
import type { Access } from '../dispatch/route.ts';

/** Names of the shared parameters under `components`. */
export const PARAMETERS = { organization: 'ServiceOrg', requestId: 'RequestId' } as const;
/** Names of the shared credentials under `components`; any one of a list is enough. */
const KEY = ['bearerKey', 'serviceKey'] as const;
const SESSION = ['sessionBearer', 'sessionCookie'] as const;
export const SECURITY = {
  open: [],
  visitor: [],
  key: [...KEY, ...SESSION],
  session: SESSION,
} as const satisfies Record<Access, readonly string[]>;

export function reference(kind: 'parameters' | 'headers', name: string): { $ref: string } {
  return { $ref: `#/components/${kind}/${name}` };
}

export const SHARED = {
  parameters: {
    [PARAMETERS.organization]: {
      name: 'X-Service-Org',
      in: 'header',
      required: false,
      description:
        "Id of an organization: the call uses its paper sandbox instead of the caller's own " +
        'account.',
      schema: { type: 'string', format: 'uuid' },
    },
    [PARAMETERS.requestId]: {
      name: 'X-Request-Id',
      in: 'header',
      required: false,
      description: 'Returned on the response; default: a new id.',
      schema: { type: 'string', pattern: '^[!-~]{1,128}$' },
    },
  },
  securitySchemes: {
    [KEY[0]]: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'svc_sk_ and 43 base64url characters',
      description: 'An API key. The caller must hold the scopes of the operation.',
    },
    [KEY[1]]: {
      type: 'apiKey',
      in: 'header',
      name: 'x-service-key',
      description: 'The same key, for clients that cannot set Authorization.',
    },
    [SESSION[0]]: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description:
        'The access token of a signed-in person. It is of the auth server at `/auth/v1`, which ' +
        'speaks the protocol of GoTrue. If an outside one is configured in its place, the token is ' +
        'of that. It holds ' +
        'records:read, portfolio:read, markets:read and, while trading is on, trade:write. Where ' +
        'it alone is taken a key is refused with `session_required`. A guest is refused with ' +
        '`guest_account`. A body needs `Content-Type: application/json`.',
    },
    [SESSION[1]]: {
      type: 'apiKey',
      in: 'cookie',
      name: 'sb-access-token',
      description:
        'The same token, as a browser sends it. It counts only on requests of the same origin, ' +
        'and, if they change data, only with `Content-Type: application/json`. A WebSocket ' +
        'needs the `Origin` of this server. A key or a bearer token takes precedence.',
    },
  },
};
