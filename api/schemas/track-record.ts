/** Wire schemas of the keys of signed track records. Rule Y67 (engine/RULES.md). */
import { type Static, Type } from '@sinclair/typebox';
import { oneOf, strict } from './common.ts';

const Key = strict(
  {
    kty: oneOf(['OKP']),
    crv: oneOf(['Ed25519']),
    x: Type.String({ description: 'The public key, 32 bytes in base64url.' }),
    kid: Type.String({ description: 'The keyId of records that it has signed.' }),
    alg: oneOf(['EdDSA']),
    use: oneOf(['sig']),
  },
  { title: 'TrackRecordKey' },
);

export const TrackRecordKeysAnswer = strict(
  { keys: Type.Array(Key, { description: 'Every one that ever signed, the newest first.' }) },
  { title: 'TrackRecordKeys' },
);

export const TRACK_RECORD_KEYS_EXAMPLE: Static<typeof TrackRecordKeysAnswer> = {
  keys: [
    {
      kty: 'OKP',
      crv: 'Ed25519',
      x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
      kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
      alg: 'EdDSA',
      use: 'sig',
    },
  ],
};
