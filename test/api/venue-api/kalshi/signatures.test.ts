/** Who signed a request: verified by threads, many at once, and each request once. */
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import test from 'ava';
import type { HttpContext } from '../../../../api/http/http-context.ts';
import { newUser } from '../../../../api/identity/users.ts';
import { Signatures } from '../../../../api/venue-api/kalshi/signatures.ts';
import { Verifiers } from '../../../../api/venue-api/kalshi/verifiers.ts';
import type { Uuid } from '../../../../engine/base/units.ts';
import { Unavailable } from '../../../../engine/threads/unavailable.ts';

const SILENT = { info() {}, warn() {}, error() {} };

function isGood(
  verifiers: Verifiers,
  publicKeyPem: string,
  text: string,
  signature: string,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    verifiers.verify({ publicKeyPem, text, signature, resolve, reject });
  });
}

function makePair() {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const publicKeyPem = publicKey.export({ type: 'spki', format: 'pem' }) as string;
  const signed = (text: string) =>
    sign('sha256', Buffer.from(text), { key: privateKey, padding: 6, saltLength: 32 }).toString(
      'base64',
    );
  return { publicKeyPem, signed };
}

test('A202: of many signatures at once each is judged by its own key and text', async (t) => {
  const verifiers = new Verifiers(SILENT);
  t.teardown(() => verifiers.close());
  const [one, other] = [makePair(), makePair()];
  const asked = Array.from({ length: 200 }, (_, at) => {
    const by = at % 2 === 0 ? one : other;
    const isIts = at % 3 !== 0;
    const signature = by.signed(isIts ? `text ${at}` : `text ${at + 1}`);
    return { isIts, found: isGood(verifiers, by.publicKeyPem, `text ${at}`, signature) };
  });
  t.false(await isGood(verifiers, one.publicKeyPem, 'text', other.signed('text')));
  t.false(await isGood(verifiers, one.publicKeyPem, 'text', 'no base64 at all'));
  t.deepEqual(
    await Promise.all(asked.map(({ found }) => found)),
    asked.map(({ isIts }) => isIts),
  );
});

test('A202: once the server stops, a signature is refused and waits for nothing', async (t) => {
  const verifiers = new Verifiers(SILENT);
  const { publicKeyPem, signed } = makePair();
  const signature = signed('text');
  t.true(await isGood(verifiers, publicKeyPem, 'text', signature));
  const last = isGood(verifiers, publicKeyPem, 'text', signature);
  await verifiers.close();
  await t.throwsAsync(last, { instanceOf: Unavailable });
  await t.throwsAsync(isGood(verifiers, publicKeyPem, 'text', signature), {
    instanceOf: Unavailable,
  });
});

test('A202, J1: a request that is sent again is not verified again, one of another path is, and a handshake within its turn', async (t) => {
  const user = newUser({ email: 'signer@example.com', plan: 'basic' }, Date.now());
  const { publicKeyPem, signed } = makePair();
  const id = randomUUID() as Uuid;
  const key = { id, userId: user.id, label: 'bot', publicKeyPem, createdAtMs: Date.now() };
  const verifiers = new Verifiers(SILENT);
  t.teardown(() => verifiers.close());
  let asked = 0;
  const signatures = new Signatures(
    {
      venueApiKeys: { get: (given: Uuid) => (given === id ? key : undefined) },
      users: { get: () => user },
    } as unknown as ConstructorParameters<typeof Signatures>[0],
    {
      verify: (one) => {
        asked++;
        verifiers.verify(one);
      },
    },
  );
  const atMs = Date.now();
  const ask = (path: string, signature: string, handshake: object | null) => {
    const headers: Record<string, string> = {
      'kalshi-access-key': id,
      'kalshi-access-timestamp': String(atMs),
      'kalshi-access-signature': signature,
    };
    const header = (name: string) => headers[name] ?? '';
    const http = { method: 'GET', path, handshake, header };
    return signatures.callerOf(http as unknown as HttpContext);
  };
  const send = async (path: string, signature: string) => ask(path, signature, null);
  const signature = signed(`${atMs}GET/one`);
  t.is((await send('/one', signature))?.user.id, user.id);
  t.is((await send('/one', signature))?.user.id, user.id);
  t.is(asked, 1);
  await t.throwsAsync(send('/two', signature), { message: 'INCORRECT_API_KEY_SIGNATURE' });
  t.is(asked, 2);
  // One that was refused is verified each time.
  await t.throwsAsync(send('/two', signature), { message: 'INCORRECT_API_KEY_SIGNATURE' });
  t.is(asked, 3);
  t.is((await send('/one', signature))?.user.id, user.id);
  t.is(asked, 3);
  // J1: of a handshake it is known within the turn.
  t.like(ask('/one', signature, {}), { user: { id: user.id } });
  t.throws(() => ask('/two', signature, {}), { message: 'INCORRECT_API_KEY_SIGNATURE' });
  t.is(asked, 3);
});
