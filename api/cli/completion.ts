/** `paperbook completion`: a shell's offers at the Tab key. Rule U15 (api/RULES.md). */
import { Argument, type Command, type Option } from 'commander';
import {
  bashScript,
  type CommandWords,
  fishScript,
  type Value,
  zshScript,
} from './completion-scripts.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };
type Shell = keyof typeof SCRIPTS;

const INSTALL = `
Install it once; a shell started after that completes:
  paperbook completion bash \\
    > ~/.local/share/bash-completion/completions/paperbook
  paperbook completion zsh > ~/.zfunc/_paperbook
  paperbook completion fish > ~/.config/fish/completions/paperbook.fish
zsh needs ~/.zfunc in fpath before compinit. For this shell alone:
  source <(paperbook completion bash)`;

export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('print a completion script for your shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)))
    .addHelpText('after', INSTALL)
    .action((shell: Shell) => {
      process.stdout.write(SCRIPTS[shell](placesOf(program)));
    });
}

/** The command and all below it. */
function placesOf(command: Command, path: readonly string[] = []): CommandWords[] {
  const help = command.createHelp();
  // The help command that commander adds is not in its list of commands.
  const own = help.visibleCommands(command).filter((below) => command.commands.includes(below));
  const at = [...path, command.name()];
  const here: CommandWords = {
    at: at.join(' '),
    commands: own.map((below) => ({ word: below.name(), about: below.description() })),
    options: help.visibleOptions(command).map(optionOf),
    argument: { choices: [], isFile: false },
  };
  for (const argument of command.registeredArguments) {
    here.argument.choices.push(...(argument.argChoices ?? []));
    here.argument.isFile ||= isFile(argument.name());
  }
  return [here, ...own.flatMap((below) => placesOf(below, at))];
}

function optionOf({ long, short, description, required, optional, argChoices, flags }: Option) {
  const names = [long, short].filter((name) => name != null);
  const value: Value = { choices: argChoices ?? [], isFile: isFile(flags) };
  return { names, about: description, value: required || optional ? value : null };
}

/** By the help's name of the value. */
function isFile(name: string): boolean {
  return /\b(file|dir|catalog)(\.\.\.)?[>\]]?$/.test(name);
}
