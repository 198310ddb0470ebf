/** What a shell offers at the Tab key, asked of the shells that are installed. Rule U15. */
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { runHere } from './run-here.ts';
import { tempDir } from './server.ts';

type Shell = 'bash' | 'zsh' | 'fish';

async function scriptOf(shell: Shell): Promise<string> {
  const { code, stdout, stderr } = await runHere(['completion', shell]);
  if (code !== 0 || stderr !== '') throw new Error(`completion ${shell}: ${stderr}`);
  return stdout;
}

/** Names of the commands and options that a help text lists. */
function listed(help: string): { commands: string[]; options: string[] } {
  const [, commands = ''] = /\nCommands:\n(.*?)(?:\n\n|$)/s.exec(help) ?? [];
  return {
    commands: [...commands.matchAll(/^ {2}([a-z][\w-]*) /gm)].map(([, name]) => name!),
    options: [...help.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, name]) => name!),
  };
}

test.serial('U15: the script of every shell has each command and option of the help', async (t) => {
  const scripts = new Map<Shell, string>();
  for (const shell of ['bash', 'zsh', 'fish'] as const) scripts.set(shell, await scriptOf(shell));
  const lineOf = (shell: Shell, at: string) =>
    scripts
      .get(shell)!
      .split('\n')
      .filter((line) => line.includes(shell === 'fish' ? `_at \\'${at}\\''` : ` '${at}') options`))
      .join('\n');
  const check = async (words: string[]): Promise<void> => {
    const { code, stdout } = await runHere([...words, '--help']);
    t.is(code, 0);
    const { commands, options } = listed(stdout);
    t.true(options.includes('--help'));
    const at = ['paperbook', ...words].join(' ');
    for (const shell of scripts.keys()) {
      const line = lineOf(shell, at);
      const isThere = (word: string) => {
        const name = shell === 'fish' ? word.replace(/^--/, '-l ') : word;
        return new RegExp(`(^|[' (])${name}($|[': ])`, 'm').test(line);
      };
      const missing = [...commands, ...options].filter((word) => word !== 'help' && !isThere(word));
      t.deepEqual(missing, [], `${shell}: ${at}`);
    }
    for (const command of commands) if (command !== 'help') await check([...words, command]);
  };
  await check([]);
});

test.serial('U15: no other shell, and the scripts name no place of this machine', async (t) => {
  const { code, stdout, stderr } = await runHere(['completion', 'csh']);
  t.deepEqual([code, stdout], [2, '']);
  t.regex(stderr, /Allowed choices are bash, zsh, fish/);
  const script = await scriptOf('zsh');
  t.false(script.includes(process.env.HOME ?? '/home/'));
});

/** Lines as they are typed, the last word unfinished, and what is offered for it. */
const TYPED: [words: string[], offered: string[]][] = [
  [['ver'], ['verify', 'verify-receipt', 'verify-record']],
  [
    ['feed', 're'],
    ['record', 'replay'],
  ],
  [['trades', '--st'], ['--status']],
  [
    ['trades', '--status', ''],
    ['closed', 'open', 'settled', 'void'],
  ],
  [['trades', '--limit', ''], []],
  [['buy', 'ins_4K7Q0R2M9XTB', 'y'], ['yes']],
  [['admin', 'user', 'pass'], ['password']],
  [
    ['buy', 'serve', '--ti'],
    ['--ticker', '--tif'],
  ],
  [['trades', '--key-file', 'kee'], ['keep.key']],
  [['feed', 'inspect', 'kee'], ['keep.key']],
];

/** What a shell offers, in a directory with one file. */
const ASK: Record<Shell, (script: string, words: string[]) => string[]> = {
  bash: (script, words) => [
    '--norc',
    '-c',
    `source "$1"; shift
     COMP_WORDS=(paperbook "$@") COMP_CWORD=$#
     _paperbook; printf "%s\\n" "\${COMPREPLY[@]}"`,
    'bash',
    script,
    ...words,
  ],
  // Outside the line editor its functions are not there: these print what they are given.
  zsh: (script, words) => [
    '-f',
    '-c',
    `compdef() { : }
     _describe() { print -l -- "\${(@)\${(@P)@[-1]}%%:*}" }
     _files() { print -l -- *(N) }
     source "$1"; shift
     words=(paperbook "$@") CURRENT=$(( $# + 1 )) PREFIX=$@[-1]
     _paperbook`,
    'zsh',
    script,
    ...words,
  ],
  fish: (script, words) => [
    '--no-config',
    '-c',
    'source $argv[1]; complete -C (string join -- " " paperbook $argv[2..-1]) | cut -f 1',
    script,
    ...words,
  ],
};

const isInstalled = (shell: Shell) => spawnSync(shell, ['-c', 'true']).status === 0;

for (const shell of ['bash', 'zsh', 'fish'] as const) {
  // Where the machine has no such shell it is shown as skipped.
  const withShell = isInstalled(shell) ? test.serial : test.serial.skip;
  withShell(`${shell} offers commands, options, values and files`, async (t) => {
    const directory = tempDir(t);
    writeFileSync(path.join(directory, 'keep.key'), '');
    const script = path.join(tempDir(t), 'script');
    writeFileSync(script, await scriptOf(shell));
    for (const [words, offered] of TYPED) {
      const typed = words.at(-1)!;
      const answer = execFileSync(shell, ASK[shell](script, words), {
        cwd: directory,
        encoding: 'utf8',
      });
      // The line editor of zsh picks those that begin as the word does.
      const begin = answer.split('\n').filter((word) => word !== '' && word.startsWith(typed));
      t.deepEqual([...new Set(begin)].sort(), offered, words.join(' '));
    }
  });
}

test.serial('bash and zsh offer values after --name=, too', async (t) => {
  const expected = ['closed', 'open', 'settled', 'void'];
  const lines = { bash: ['trades', '--status', '=', ''], zsh: ['trades', '--status='] };
  for (const shell of ['bash', 'zsh'] as const) {
    if (!isInstalled(shell)) continue;
    const script = path.join(tempDir(t), 'script');
    const compset = `compset() { PREFIX=\${PREFIX#*=} }\n`;
    writeFileSync(script, (shell === 'zsh' ? compset : '') + (await scriptOf(shell)));
    const answer = execFileSync(shell, ASK[shell](script, lines[shell]), { encoding: 'utf8' });
    t.deepEqual(answer.trim().split('\n').sort(), expected, shell);
  }
});
