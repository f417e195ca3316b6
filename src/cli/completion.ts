import type { Command } from 'commander'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** A command with the words that may follow it. */
interface Completed {
  /** e.g. `token create`; empty for the program. */
  readonly path: string
  readonly commands: readonly Command[]
  readonly options: readonly { readonly flag: string; readonly about: string; readonly takesValue: boolean }[]
}

/** Commands of all families, as they are declared: a script never knows others than the program. */
function everyCommand(command: Command, path: readonly string[] = []): readonly Completed[] {
  const options = command.options
    .filter(({ hidden, long }) => !hidden && long)
    .map(({ long, description, required }) => ({ flag: long ?? '', about: description, takesValue: required }))
  const own = { path: path.join(' '), commands: command.commands, options }
  return [own, ...command.commands.flatMap((one) => everyCommand(one, [...path, one.name()]))]
}

export function completionFor(shell: Shell, program: Command): string {
  const all = everyCommand(program)
  if (shell === 'fish') return fish(all)
  return shell === 'bash' ? bash(all) : `autoload -U +X bashcompinit && bashcompinit\n${bash(all)}`
}

const wordsOf = ({ commands, options }: Completed): string =>
  [...commands.map((one) => one.name()), ...options.map(({ flag }) => flag), '--help'].join(' ')

/** zsh reads it, too. The deepest command on the line decides; files are completed where it has nothing to offer. */
const bash = (all: readonly Completed[]): string => `_phaseline() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" path="" word words i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "\${path:+$path }$word" in
${all
  .filter(({ path }) => path !== '')
  .map(({ path }) => `      "${path}") path="${path}" ;;`)
  .join('\n')}
    esac
  done
  case "$path" in
${all.map((one) => `    "${one.path}") words="${wordsOf(one)}" ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _phaseline phaseline
`

function fish(all: readonly Completed[]): string {
  const lines = all.flatMap(({ path, commands, options }) => {
    const names = commands.map((one) => one.name()).join(' ')
    const above = path === '' ? [] : path.split(' ')
    const seen = above.map((word) => `__fish_seen_subcommand_from ${word}`)
    const here = [...seen, ...(names ? [`not __fish_seen_subcommand_from ${names}`] : [])].join('; and ') || 'true'
    return [
      ...commands.map(
        (one) => `complete -c phaseline -n '${here}' -f -a ${one.name()} -d ${quoted(one.description())}`,
      ),
      ...options.map(
        ({ flag, about, takesValue }) =>
          `complete -c phaseline -n '${here}' -l ${flag.slice(2)}${takesValue ? ' -r' : ''} -d ${quoted(about)}`,
      ),
    ]
  })
  return `${lines.join('\n')}\n`
}

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
