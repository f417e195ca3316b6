import type { Command } from 'commander'
import { invalid, type PhaseClass } from '../../client-model/index.ts'
import { type LabelArgument, option, parseSelector } from '../options.ts'
import type { Session } from '../session.ts'
import type { ExitCode } from '../terminal/exit.ts'
import type { AddressOptions } from './address.ts'
import type { WatchResult } from './watch-end.ts'

/** Options that choose objects in place of names. */
export interface SelectionOptions {
  readonly label?: readonly LabelArgument[]
  readonly all?: boolean
  readonly dryRun?: boolean
  readonly yes?: boolean
}

export const withSelectionOptions = (command: Command): Command =>
  command
    .addOption(
      option('-l, --label <key=value>', 'in place of names: those of the project with these labels', parseSelector),
    )
    .option('--all', 'in place of names: all of the project')
    .option('--dry-run', 'with --all and -l: only print how many match, and the first of them')
    .option('-y, --yes', 'do not ask first; --all and -l need it where there is no terminal')

interface MeantFor {
  readonly finished?: boolean
  readonly classes?: readonly PhaseClass[]
}

/** How a verb is asked of a selection. */
export interface SelectedVerb<Options> {
  /** Its name in the API; null: with these options it takes names alone. */
  verb(options: Options): string | null
  /** Flags of the verb that are set. */
  flags?(options: Options): readonly string[]
  /** Narrows a selection to the objects for which it is meant. */
  readonly only?: MeantFor
  /** True if an object that `--wait` has followed ended as it should. */
  isWanted?(result: WatchResult): boolean
}

/** A verb for all objects of a project that match: roots, or the objects of a kind. */
export interface ManyAsked extends Pick<AddressOptions, 'kind'> {
  readonly only: MeantFor
  readonly verb: string
  readonly project: string
  readonly labels: readonly LabelArgument[]
  readonly flags: readonly string[]
  readonly reason: string | undefined
  readonly dryRun: boolean
  /** True: nobody is asked first. */
  readonly yes: boolean
  /** Given: each object is followed to its end, and judged by it. */
  readonly isWanted: ((result: WatchResult) => boolean) | undefined
}
export type AskMany = (session: Session, asked: ManyAsked) => Promise<ExitCode>

export const NO_NAME = invalid('Name an object, or select several: --all, or -l KEY=VALUE.')
export const DRY_RUN_OF_NAMES = invalid('--dry-run is of --all and -l, and not of names.')

export const isSelection = ({ all, label }: SelectionOptions): boolean => all === true || label !== undefined

/** Asks the verb of all that is selected. */
export async function askSelection<T extends object>(
  session: Session,
  find: () => Promise<AskMany | null>,
  names: readonly string[],
  options: T & SelectionOptions & AddressOptions & { readonly wait?: boolean; readonly reason?: string },
  { verb: verbOf, flags, only = {}, isWanted }: SelectedVerb<T>,
): Promise<ExitCode> {
  const { label: labels = [], dryRun = false, yes = false, project = 'default', kind, wait, reason } = options
  if (names.length > 0)
    return session.refuse(invalid('Give either names or a selection (--all, -l): both together are ambiguous.'))
  const verb = verbOf(options)
  if (verb === null) return session.refuse(invalid('With these options the command takes names, and no --all or -l.'))
  if (!dryRun && !yes && session.io.stdin.isTTY !== true)
    return session.refuse(invalid('There is no terminal to ask: --yes confirms --all and -l.'))
  const askMany = await find()
  if (!askMany) return session.refuse(invalid('No family of this program can ask many objects: give names.'))
  return await askMany(session, {
    ...{ verb, project, labels, only, dryRun, yes, reason },
    ...(kind !== undefined && { kind }),
    flags: flags?.(options) ?? [],
    isWanted: wait ? isWanted : undefined,
  })
}
