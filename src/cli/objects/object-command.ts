import type { Command } from 'commander'
import { invalid, type Outcome, refused } from '../../client-model/index.ts'
import type { ObjectKind } from '../../core/vocabulary.ts'
import type { Cli } from '../cli.ts'
import { withCompletion } from '../completed.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../session.ts'
import { EXIT, type ExitCode, worst } from '../terminal/exit.ts'
import { articled, words } from '../terminal/text.ts'
import { type AddressOptions, type Located, locate, withAddressOptions } from './address.ts'
import {
  askSelection,
  DRY_RUN_OF_NAMES,
  isSelection,
  NO_NAME,
  type SelectedVerb,
  type SelectionOptions,
  withSelectionOptions,
} from './selection.ts'

export interface ProjectOption {
  readonly project?: string
}

/** The argument of a command on one object. */
export interface ObjectArgument {
  readonly kind: ObjectKind
  /** e.g. `event`. */
  readonly name: string
  /** e.g. `id, event-17, or web/event-17`. */
  readonly help: string
  /** The object's root, if that is another kind, e.g. the cloudlet of a cluster. */
  readonly root?: string
}

/** The exit code of a request, or how what it has begun is followed to its end. */
export type PendingExit = ExitCode | (() => Promise<ExitCode>)
type Work<T> = (session: Session, object: Located, options: T) => Promise<PendingExit>

const endOf = async (asked: PendingExit): Promise<ExitCode> => (typeof asked === 'function' ? await asked() : asked)

/**
 * Adds argument, options and action of a command on one or more objects. It asks for all of them, whichever is refused, before it
 * follows the first. A selection takes the place of names.
 */
export const onObjects = <T extends object>(
  command: Command,
  cli: Cli,
  work: Work<T & AddressOptions>,
  selected: SelectedVerb<T>,
): Command =>
  withSelectionOptions(withSessionOptions(withAddressOptions(command)).argument('[name...]', 'ids, or paths')).action(
    async (names: readonly string[], options: SessionOptions & AddressOptions & SelectionOptions & T) => {
      cli.exitCode = await withSession(cli.io, options, async (session) => {
        if (isSelection(options)) return await askSelection(session, () => cli.askMany(), names, options, selected)
        if (names.length === 0) return session.refuse(NO_NAME)
        if (options.dryRun) return session.refuse(DRY_RUN_OF_NAMES)
        const asked: PendingExit[] = []
        for (const name of names) {
          const located = await locate(session, name, options)
          const one = located.ok ? await work(session, located.value, options) : session.refuse(located.refusal)
          if (one === EXIT.interrupted) return one
          asked.push(one)
        }
        const codes: ExitCode[] = []
        for (const one of asked) codes.push(await endOf(one))
        return worst(codes)
      })
    },
  )

/** Adds argument, options and action of a command on one object. */
export function onObject<T extends object>(
  command: Command,
  cli: Cli,
  { kind, name, help, root = name }: ObjectArgument,
  work: Work<T>,
): Command {
  return withCompletion(withSessionOptions(command), kind)
    .argument(`<${name}>`, help)
    .option('--project <name>', `project of the ${root} (default: "default")`)
    .action(async (text: string, options: SessionOptions & ProjectOption & T) => {
      cli.exitCode = await withSession(cli.io, options, async (session) => {
        const located = await locateKind(session, text, kind, options)
        return located.ok ? await endOf(await work(session, located.value, options)) : session.refuse(located.refusal)
      })
    })
}

/** Resolves an id, a path in the project, or a path that begins with a project; refuses another kind. */
export async function locateKind(
  session: Session,
  text: string,
  wanted: ObjectKind,
  { project }: ProjectOption,
): Promise<Outcome<Located>> {
  const located = await locate(session, text, { kind: wanted, ...(project === undefined ? {} : { project }) })
  if (!located.ok || located.value.kind === wanted) return located
  const { id, kind, name, root } = located.value
  const hint = root.id === id ? '' : ` It belongs to ${root.name}.`
  return refused(invalid(`${text} is the ${words(kind)} ${name}, not ${articled(words(wanted))}.${hint}`))
}
