/** `paperbook signup`, `login`, `logout` and `whoami`. Rules U5, U7, U63 (api/RULES.md). */
import type { Command } from 'commander';
import { plain } from '../base/shown-text.ts';
import {
  answerBySession,
  answerOf,
  byKey,
  defaultServer,
  type KeyFlags,
  ofKey,
  ofSession,
  ownKey,
  type SessionFlags,
  serverOf,
  signedIn,
  withToken,
} from './account-connection.ts';
import { AuthRefusal, signIn, signOut, signUp, type Tokens } from './auth-client.ts';
import { forgetKey } from './keys.ts';
import { SessionFile } from './session-file.ts';
import { askTerminal, PASSWORD_OPTION, passwordOfStdin } from './stdin.ts';
import { listOf, show, wrapped } from './table.ts';

type LoginFlags = SessionFlags & { server: string; email?: string; passwordStdin?: true };
type LogoutFlags = SessionFlags & { revokeKey?: true; local?: true };

export function addAccountCommands(program: Command): void {
  ofSession(program.command('login').description('sign in and keep the session in a file'))
    .option('--server <url>', 'the server', defaultServer())
    .option('--email <address>', 'address of the account; default: ask for it')
    .option(...PASSWORD_OPTION)
    .action(login);
  ofSession(
    program
      .command('signup')
      .description('make an account, sign in and keep the session in a file'),
  )
    .option('--server <url>', 'the server', defaultServer())
    .option('--email <address>', 'address of the account; default: ask for it')
    .option(...PASSWORD_OPTION)
    .action(createAccount);
  ofSession(program.command('logout').description('end the session and remove its file'))
    .option('--revoke-key', 'also end the key of the trading commands')
    .option('--local', 'only remove the file; send nothing to the server')
    .action(logout);
  ofKey(
    program.command('whoami').description('show the signed-in user and the scopes of the key'),
  ).action(whoAmI);
}

const login = (options: LoginFlags) => enter(options, signIn);
const createAccount = (options: LoginFlags) => enter(options, signUp);

async function enter(
  options: LoginFlags,
  by: (server: string, email: string, password: string) => Promise<Tokens>,
): Promise<void> {
  const server = serverOf(options.server);
  const email =
    options.email ?? (await askTerminal('Email: ', { isSecret: false, instead: '--email' }));
  const password = options.passwordStdin
    ? await passwordOfStdin()
    : await askTerminal('Password: ', { isSecret: true, instead: '--password-stdin' });
  const tokens = await answerOf(server, by(server, email, password));
  const file = new SessionFile(options.session);
  const session = await file.change((before) => {
    const isSame = before?.server === server && before.userId === tokens.userId;
    return { server, ...tokens, key: isSame ? before.key : null };
  });
  const { userId, key } = session!;
  const answer = { server, user: { id: userId, email: tokens.email }, session: file.path };
  show(options, answer, () => `Signed in to ${server} as ${plain(tokens.email)}.\n`);
  if (key === null) {
    process.stderr.write('To trade, make a key: paperbook keys create --trade --use\n');
  }
}

async function logout(options: LogoutFlags): Promise<void> {
  const file = new SessionFile(options.session);
  const { server, key } = signedIn(file);
  let isRevoked = false;
  if (options.local !== true) {
    if (options.revokeKey === true && key !== null) {
      await answerBySession(file, (client) => client.revokeKey({ path: { id: key.id } }));
      await forgetKey(file, key.id);
      isRevoked = true;
    }
    await answerOf(server, endSession(file, server));
  }
  await file.change(() => null);
  const stays = key !== null && !isRevoked;
  const answer = { server, keyStaysValid: stays ? key.token.slice(0, 16) : null };
  show(options, answer, () => `Signed out of ${server}.\n`);
  if (stays) {
    process.stderr.write(
      `The key ${answer.keyStaysValid}… is forgotten here and stays valid: keys revoke ends it, ` +
        'after a login. Next time, use logout --revoke-key.\n',
    );
  }
}

/** Succeeds also when the session has ended already. */
async function endSession(file: SessionFile, server: string): Promise<void> {
  try {
    await withToken(file, (token) => signOut(server, token));
  } catch (error) {
    if (!(error instanceof AuthRefusal && error.isSessionGone)) throw error;
  }
}

async function whoAmI(options: KeyFlags): Promise<void> {
  const file = new SessionFile(options.session);
  const session = ownKey(options) === null ? signedIn(file) : null;
  const whose = session === null ? null : { id: session.userId, email: session.email };
  if (session?.key === null) {
    const { server } = session;
    const { keys } = await answerBySession(file, (client) => client.listKeys());
    const answer = { server, user: whose, key: null, plan: null, limits: null };
    show(
      options,
      answer,
      () => `${plain(session.email)} at ${server}\nNo key in use, ${keys.length} in all.\n`,
    );
    return;
  }
  const { server, client } = byKey(options);
  const me = await answerOf(server, client.getMe());
  const { plan, minute, month, enforced } = await answerOf(server, client.getUsage());
  const answer = {
    server,
    user: { email: null, ...whose, ...me.user },
    key: me.key,
    plan,
    limits: { minute, month, enforced },
  };
  const left =
    `${minute.remaining} of ${minute.limit} left this minute, ` +
    `${month.remaining} of ${month.limit} this month`;
  show(options, answer, () =>
    [
      wrapped(`${plain(answer.user.email ?? me.user.displayName ?? me.user.id)} at ${server}`),
      listOf([
        ['Plan', plan],
        ...pairsOfKey(me.key),
        ['Requests', `${left}${enforced ? '' : ' (not enforced)'}`],
      ]),
    ].join(''),
  );
}

/** Null if a session called in place of a key. */
function pairsOfKey(key: { prefix: string; scopes: readonly string[] } | null) {
  if (key === null) return [];
  return [['Key', `${key.prefix}…`] as const, ['Scopes', key.scopes.join(' ')] as const];
}
