/** /venue_keys: a person's key pairs for the venue's own API. Rules A200, A201 (api/RULES.md). */
import { NoQuery, strict } from '../../base/common-schemas.ts';
import { bodyReader, optionalBody } from '../../base/validation.ts';
import type { Caller } from '../../dispatch/access.ts';
import { type Route, session } from '../../dispatch/route.ts';
import { KEY_INPUT } from '../../identity/keys.ts';
import { VenueApiKeyBook } from '../../identity/venue-api-key-book.ts';
import { venueApiKeyView } from '../../identity/venue-api-keys.ts';
import { VENUE_KEY } from '../../schemas/examples.ts';
import {
  KeyId,
  NewVenueKeyAnswer,
  VenueKeyAnswer,
  VenueKeyListAnswer,
} from '../../schemas/identity.ts';
import type { ServerContext } from '../server-context.ts';

type Context = Pick<ServerContext, 'log' | 'identity'>;

const PATH = '/venue_keys';
const PEM = '-----BEGIN RSA PRIVATE KEY-----\n…\n-----END RSA PRIVATE KEY-----\n';
const readLabel = optionalBody(
  bodyReader(strict({ label: KEY_INPUT.label }, { title: 'VenueKeyCreateRequest' })),
);

export function venueKeyRoutes({ identity, log }: Context): Route<Caller>[] {
  const book = new VenueApiKeyBook(identity);
  return [
    session({
      method: 'GET',
      path: PATH,
      about: {
        operationId: 'listVenueKeys',
        tag: 'Keys',
        summary: "List the signed-in person's key pairs for the venue's own API",
        example: { venueKeys: [VENUE_KEY], count: 1 },
      },
      query: NoQuery,
      response: VenueKeyListAnswer,
      run: ({ caller: { user } }) => {
        const venueKeys = identity.venueApiKeys.of(user.id).map(venueApiKeyView);
        return JSON.stringify({ venueKeys, count: venueKeys.length });
      },
    }),
    session({
      method: 'POST',
      path: PATH,
      about: {
        operationId: 'createVenueKey',
        tag: 'Keys',
        summary: "Make a key pair for the venue's own API; its private key is shown once",
        description:
          'The pair signs requests of `/trade-api/v2`, if the server has it on. It acts for the ' +
          'personal account with portfolio:read, markets:read and trade:write. Only the public ' +
          'key is kept.',
        bodyExamples: { Bot: { label: 'bot' } },
        example: { ...VENUE_KEY, privateKeyPem: PEM },
      },
      errors: ['key_limit_reached'],
      writesControl: true,
      query: NoQuery,
      response: NewVenueKeyAnswer,
      readBody: readLabel,
      run: async ({ caller: { user }, body: { label = '' } }) => {
        const { key, privateKeyPem } = await book.create(user.id, label, Date.now());
        log.info({ keyId: key.id, userId: user.id }, 'venue key created');
        return JSON.stringify({ ...venueApiKeyView(key), privateKeyPem });
      },
    }),
    session({
      method: 'DELETE',
      path: `${PATH}/{keyId}`,
      about: {
        operationId: 'revokeVenueKey',
        tag: 'Keys',
        summary: "End a key pair for the venue's own API at once",
        param: KeyId,
        example: { venueKey: VENUE_KEY },
      },
      errors: ['key_not_found'],
      writesControl: true,
      query: NoQuery,
      response: VenueKeyAnswer,
      run: async ({ caller: { user }, param }) => {
        const key = await book.revoke(user.id, param.toLowerCase());
        log.info({ keyId: key.id, userId: user.id }, 'venue key revoked');
        return JSON.stringify({ venueKey: venueApiKeyView(key) });
      },
    }),
  ];
}
