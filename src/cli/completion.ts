import type { Command } from 'commander'
import { type Completed, completedBy, takesProject } from './completed.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** A command with the words that may follow it. */
interface Line {
  /** e.g. `token create`; empty for the program. */
  readonly path: string
  readonly commands: readonly Command[]
  readonly options: readonly {
    readonly flag: string
    readonly about: string
    readonly takesValue: boolean
    readonly takesProject: boolean
  }[]
  /** Names that its argument takes. */
  readonly names: Completed | undefined
}

/** Commands of all families, as they are declared: a script never knows others than the program. */
function everyCommand(command: Command, path: readonly string[] = []): readonly Line[] {
  const options = command.options
    .filter(({ hidden, long }) => !hidden && long)
    .map((one) => ({
      ...{ flag: one.long ?? '', about: one.description, takesValue: one.required },
      takesProject: takesProject(one),
    }))
  const own = { path: path.join(' '), commands: command.commands, options, names: completedBy(command) }
  return [own, ...command.commands.flatMap((one) => everyCommand(one, [...path, one.name()]))]
}

export function completionFor(shell: Shell, program: Command): string {
  const all = everyCommand(program)
  if (shell === 'fish') return fish(all)
  return shell === 'bash' ? bash(all) : `autoload -U +X bashcompinit && bashcompinit\n${bash(all)}`
}

/** Options beside `--project` that take a project, as a shell sees them: the command with the option. */
const projectOptions = (all: readonly Line[]): readonly string[] =>
  all.flatMap(({ path, options }) =>
    options.flatMap((one) => (one.takesProject && one.flag !== '--project' ? [`"${path} ${one.flag}"`] : [])),
  )

const wordsOf = ({ commands, options }: Line): string =>
  [...commands.map((one) => one.name()), ...options.map(({ flag }) => flag), '--help'].join(' ')

/**
 * zsh reads it, too, for which `path` is PATH. The deepest command on the line decides; files are completed where it has nothing to
 * offer. Names come from the server line by line, and nothing of them is expanded. They get the line as it is typed: bash divides
 * `--project=web` and an address into several words.
 */
const bash = (all: readonly Line[]): string => `_phaseline() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" called="" word words i names="" found
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "\${called:+$called }$word" in
${all
  .filter(({ path }) => path !== '')
  .map(({ path }) => `      "${path}") called="${path}" ;;`)
  .join('\n')}
    esac
  done
  case "$called" in
${all.map((one) => `    "${one.path}") words="${wordsOf(one)}"${one.names ? ` names="${one.names}"` : ''} ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  case "$called $prev" in
    ${['*" --project"', ...projectOptions(all)].join('|')}) names=project; COMPREPLY=() ;;
  esac
  if [[ -n $names && $cur != -* ]]; then
    found=()
    while IFS= read -r word; do found+=("$word"); done < <("\${COMP_WORDS[0]}" completion names "$names" -- "$cur" "$COMP_LINE" 2>/dev/null)
    if [[ \${#found[@]} -gt 0 ]]; then COMPREPLY=("\${found[@]}"); fi
    if [[ \${COMPREPLY[*]} == */ ]]; then compopt -o nospace 2>/dev/null; fi
  fi
}
complete -o default -F _phaseline phaseline
`

function fish(all: readonly Line[]): string {
  const namesOf = (names: Completed): string =>
    ` -f -a '(phaseline completion names ${names} -- (commandline -ct) (commandline -opc | string join " ") 2>/dev/null)'`
  const lines = all.flatMap(({ path, commands, options, names: completed }) => {
    const names = commands.map((one) => one.name()).join(' ')
    const above = path === '' ? [] : path.split(' ')
    const seen = above.map((word) => `__fish_seen_subcommand_from ${word}`)
    const here = [...seen, ...(names ? [`not __fish_seen_subcommand_from ${names}`] : [])].join('; and ') || 'true'
    return [
      ...commands.map(
        (one) => `complete -c phaseline -n '${here}' -f -a ${one.name()} -d ${quoted(one.description())}`,
      ),
      ...options.map(
        ({ flag, about, takesValue, takesProject }) =>
          `complete -c phaseline -n '${here}' -l ${flag.slice(2)}${takesValue ? ' -r' : ''}${takesProject ? namesOf('project') : ''} -d ${quoted(about)}`,
      ),
      ...(completed ? [`complete -c phaseline -n '${here}'${namesOf(completed)}`] : []),
    ]
  })
  return `${lines.join('\n')}\n`
}

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
