/**
 * Scripts that complete the commands of a program in bash, zsh and fish. They hold all words,
 * because a start of Node at every Tab would take a quarter of a second of CPU. Rule U15
 * (api/RULES.md).
 */

/** A value that is typed: one of a few, a file, or anything. */
export type Value = { choices: string[]; isFile: boolean };
type Word = { word: string; about: string };
/** `value` is null if the option takes none. */
type OptionWords = { names: string[]; about: string; value: Value | null };

/** A command: its words from `paperbook` on, and the words that may follow. */
export type CommandWords = {
  at: string;
  commands: Word[];
  options: OptionWords[];
  argument: Value;
};

export function bashScript(places: readonly CommandWords[]): string {
  const cases = casesOf(places, {
    quote: quoted,
    choices: (words) => `words=${quoted(words.join(' '))}`,
    files: 'files=yes',
    options: ({ options }) => `options=${quoted(options.flatMap(({ names }) => names).join(' '))}`,
    words: ({ commands, argument }) => {
      const words = [...commands.map(({ word }) => word), ...argument.choices];
      return `words=${quoted(words.join(' '))}`;
    },
  });
  return `# Completes paperbook in bash. Made by: paperbook completion bash
_paperbook() {
  local cur=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]}
  local at=paperbook options= words= files= i
  # bash takes --name=value apart at its =
  if [[ $cur == = ]]; then cur=
  elif [[ $before == = ]]; then before=\${COMP_WORDS[COMP_CWORD - 2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      ${cases.places}) at+=" \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at $before" in
${cases.values}
    *)
      case $at in
${cases.followers}
      esac
      if [[ $cur == -* || -z $words$files ]]; then words=$options files=; fi ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur"; [[ -n $files ]] && compgen -f -- "$cur")
  if [[ -n $files ]]; then compopt -o filenames 2> /dev/null; fi
}
complete -F _paperbook paperbook
`;
}

export function zshScript(places: readonly CommandWords[]): string {
  const described = ({ word, about }: Word) =>
    quoted(word.replaceAll(':', '\\:') + (about === '' ? '' : `:${about}`));
  const cases = casesOf(places, {
    quote: quoted,
    choices: (words) => `words_=(${words.map((word) => described({ word, about: '' })).join(' ')})`,
    files: 'files=yes',
    options: ({ options }) => {
      const each = options.flatMap(({ names, about }) => {
        return names.map((word) => described({ word, about }));
      });
      return `options_=(${each.join(' ')})`;
    },
    words: ({ commands, argument }) => {
      const words = [...commands, ...argument.choices.map((word) => ({ word, about: '' }))];
      return `words_=(${words.map(described).join(' ')})`;
    },
  });
  return `#compdef paperbook
# Completes paperbook in zsh. Made by: paperbook completion zsh
_paperbook() {
  local at=paperbook before=\${words[CURRENT-1]} files= word
  local -a options_ words_
  if [[ $PREFIX == --*=* ]]; then before=\${PREFIX%%=*}; compset -P '*='; fi
  for word in \${words[2,CURRENT-1]}; do
    case "$at $word" in
      (${cases.places}) at+=" $word" ;;
    esac
  done
  case "$at $before" in
${cases.values}
    *)
      case $at in
${cases.followers}
      esac
      if [[ $PREFIX == -* || ( -z $files && \${#words_} == 0 ) ]]; then
        _describe -o option options_
        return
      fi ;;
  esac
  if (( \${#words_} )); then _describe value words_; fi
  if [[ -n $files ]]; then _files; fi
}
if [[ \${funcstack[1]} == _paperbook ]]; then _paperbook "$@"; else compdef _paperbook paperbook; fi
`;
}

type Phrases = {
  quote: (text: string) => string;
  choices: (words: readonly string[]) => string;
  files: string;
  options: (place: CommandWords) => string;
  words: (place: CommandWords) => string;
};

/** The branches of bash and zsh, which differ in their phrases. */
function casesOf(places: readonly CommandWords[], phrases: Phrases) {
  const { quote, choices, files, options, words } = phrases;
  const branch = (patterns: readonly string[], then: string, indent: string) =>
    patterns.length === 0 ? [] : [`${indent}${patterns.map(quote).join(' | ')}) ${then} ;;`];
  const valued = places.flatMap(({ at, options }) =>
    options.flatMap(({ names, value }) =>
      value === null ? [] : names.map((name) => ({ pattern: `${at} ${name}`, value })),
    ),
  );
  const patternsOf = (isSuch: (value: Value) => boolean) =>
    valued.filter(({ value }) => isSuch(value)).map(({ pattern }) => pattern);
  const values = [
    ...valued
      .filter(({ value }) => value.choices.length > 0)
      .flatMap(({ pattern, value }) => branch([pattern], choices(value.choices), '    ')),
    ...branch(
      patternsOf(({ isFile }) => isFile),
      files,
      '    ',
    ),
    // Anything may be typed here, so that nothing is offered.
    ...branch(
      patternsOf((value) => !value.isFile && value.choices.length === 0),
      'return',
      '    ',
    ),
  ];
  const followers = places.flatMap((place) => {
    const more = place.argument.isFile ? `; ${files}` : '';
    return branch([place.at], `${options(place)}; ${words(place)}${more}`, '        ');
  });
  return {
    places: places.map(({ at }) => quote(at)).join(' | '),
    values: values.join('\n'),
    followers: followers.join('\n'),
  };
}

export function fishScript(places: readonly CommandWords[]): string {
  const lines = places.flatMap(({ at, commands, options, argument }) => {
    const here = `complete -c paperbook -n ${quotedForFish(`__paperbook_at '${at}'`)}`;
    const about = (text: string) => (text === '' ? '' : ` -d ${quotedForFish(text)}`);
    return [
      ...commands.map((command) => `${here} -a ${command.word}${about(command.about)}`),
      ...(argument.choices.length === 0 ? [] : [`${here} -a '${argument.choices.join(' ')}'`]),
      ...(argument.isFile ? [`${here} -F`] : []),
      ...options.map((option) => {
        const names = option.names.map((name) => {
          return name.startsWith('--') ? ` -l ${name.slice(2)}` : ` -s ${name.slice(1)}`;
        });
        return `${here}${names.join('')}${valueForFish(option.value)}${about(option.about)}`;
      }),
    ];
  });
  return `# Completes paperbook in fish. Made by: paperbook completion fish
function __paperbook_at
    set -l at paperbook
    set -l words (commandline -opc)
    for word in $words[2..-1]
        switch "$at $word"
            case ${places.map(({ at }) => quotedForFish(at)).join(' ')}
                set at "$at $word"
        end
    end
    test "$at" = "$argv[1]"
end
complete -c paperbook -f
${lines.join('\n')}
`;
}

function valueForFish(value: Value | null): string {
  if (value === null) return '';
  if (value.isFile) return ' -r -F';
  return value.choices.length === 0 ? ' -x' : ` -x -a '${value.choices.join(' ')}'`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function quotedForFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
