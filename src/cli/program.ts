import { Command, Help } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import type { FamilyDefinition } from '../families/define-family.ts'
import { type Cli, type CommandEntry, type DocumentKinds, HELP_GROUPS } from './cli.ts'
import { commandsOf } from './commands/index.ts'
import { printText } from './terminal/io.ts'

const AFTER_HELP = `
Examples:
  phaseline status                       what there is, and what waits for you
  phaseline apply -f shop.yaml --wait    write it, and follow it to its end
  phaseline get --failed                 what has failed, and why
  phaseline tree shop                    one tree, with what each part waits for
  phaseline log shop --follow            its phase changes, as they happen

Exit codes: 0 ok, 1 the thing failed, 2 usage or invalid input, 3 refused, 4 no connection or not authorised,
70 a defect of this program, 130 interrupted.`

/**
 * The command line, with the code of those commands that these words name: by default of all. The help of the program is the
 * same without. It throws commander's errors instead of ending the process.
 */
export async function createProgram(
  run: Pick<Cli, 'io' | 'exitCode'>,
  families: readonly FamilyDefinition[],
  words?: readonly string[],
): Promise<Command> {
  const { io } = run
  const halves = (await Promise.all(families.map((family) => family.cli?.()))).filter((half) => half !== undefined)
  const waiting = new Map<Command, readonly CommandEntry[]>()
  // Set before the commands are added: they inherit it.
  const program = new Command('phaseline')
    .description(packageJson.description)
    .version(packageJson.version)
    .showHelpAfterError('(--help shows what there is)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => printText(io.stdout, text),
      writeErr: (text) => printText(io.stderr, text),
      // `--token=…` is no option of ours: the error must not repeat what may be a secret.
      outputError: (text, write) => write(withHint(text.replace(/(unknown option '[^'=]*)=[^']*/, '$1'))),
    })
    .configureHelp({
      subcommandTerm: (command) => waiting.get(command)?.[0]?.usage ?? Help.prototype.subcommandTerm(command),
    })
    .addHelpCommand(helpCommand())
    .addHelpText('after', AFTER_HELP)
  const order = Object.keys(HELP_GROUPS)
  const all = [...commandsOf(families), ...halves.flatMap(({ commands }) => commands)].toSorted(
    (a, b) => order.indexOf(a.group) - order.indexOf(b.group),
  )
  for (const [usage, entries] of Map.groupBy(all, (entry) => entry.usage)) {
    const [name = ''] = usage.split(' ', 1)
    const [first] = entries
    if (first) waiting.set(program.command(name).description(first.description).helpGroup(headingOf(first)), entries)
  }
  const load = async (commands: readonly Command[]): Promise<void> => {
    for (const command of commands) {
      const adding = await Promise.all((waiting.get(command) ?? []).map((entry) => entry.load()))
      waiting.delete(command)
      for (const add of adding) add(command, cli)
    }
  }
  const cli: Cli = Object.assign(run, {
    shows: Object.assign({}, ...halves.map(({ shows }) => shows)),
    documentKinds: () => documentKindsOf(families),
    exportables: async () => {
      const others = await Promise.all(halves.map((half) => half.exports?.() ?? []))
      return [...(await cli.documentKinds()).kinds, ...others.flat()]
    },
    askMany: async () => (await halves.find((half) => half.askMany)?.askMany?.()) ?? null,
    standings: async () => (await Promise.all(halves.map((half) => half.standing?.() ?? []))).flat(),
    archivedStreams: async () => (await Promise.all(halves.map((half) => half.archives?.() ?? []))).flat(),
    wholeProgram: async () => {
      await load(program.commands)
      return program
    },
  })
  await load(program.commands.filter((command) => words?.includes(command.name()) ?? true))
  return program
}

const headingOf = ({ group }: Pick<CommandEntry, 'group'>): string => `${HELP_GROUPS[group]}:`
const helpCommand = (): Command =>
  new Command('help')
    .argument('[command]')
    .description('display help for command')
    .helpGroup(headingOf({ group: 'Machine' }))

/** Commands of other programs, and ours that do the same. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  ...{ describe: 'get', list: 'get', ls: 'get', show: 'get', ps: 'get', top: 'agents', history: 'log', events: 'log' },
  ...{ create: 'apply', up: 'apply', install: 'apply', upgrade: 'apply', update: 'apply', deploy: 'apply' },
  ...{ rm: 'delete', remove: 'delete', uninstall: 'delete', down: 'delete', destroy: 'delete', validate: 'plan' },
  ...{ stop: 'cancel', abort: 'cancel', kill: 'cancel' },
  ...{ sync: 'reconcile', run: 'reconcile', restart: 'reconcile', rerun: 'retry', rollout: 'rollback' },
  ...{ start: 'serve', server: 'serve' },
}

function withHint(text: string): string {
  const [, name = ''] = /unknown command '([^']*)'/.exec(text) ?? []
  const ours = Object.hasOwn(ELSEWHERE, name) ? ELSEWHERE[name] : undefined
  // Commander suggests what is spelt alike, which is not what is meant here.
  return ours ? `error: unknown command '${name}'\n(phaseline ${ours} does that)\n` : text
}

/** Kinds of documents, of all families, and of what belongs to none. */
export async function documentKindsOf(families: readonly FamilyDefinition[]): Promise<DocumentKinds> {
  const [{ projects }, { hooks }, ...halves] = await Promise.all([
    import('./projects/apply.ts'),
    import('./hooks/apply.ts'),
    ...families.map((family) => family.cli?.()),
  ])
  const kinds = await Promise.all(halves.map((half) => half?.kinds?.() ?? []))
  return {
    kinds: [projects, ...kinds.flat(), hooks],
    otherKinds: Object.assign({}, ...halves.map((half) => half?.otherKinds)),
  }
}
