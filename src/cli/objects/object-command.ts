import type { Command } from 'commander'
import { invalid, type Outcome, refused } from '../../client-model/index.ts'
import type { ObjectKind } from '../../core/vocabulary.ts'
import type { Cli } from '../cli.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../session.ts'
import type { ExitCode } from '../terminal/exit.ts'
import { articled, words } from '../terminal/text.ts'
import { type Located, locate } from './address.ts'

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

/** Adds argument, options and action of a command on one object. */
export function onObject<T extends object>(
  command: Command,
  cli: Cli,
  { kind, name, help, root = name }: ObjectArgument,
  work: (session: Session, object: Located, options: T) => Promise<ExitCode>,
): Command {
  return withSessionOptions(command)
    .argument(`<${name}>`, help)
    .option('--project <name>', `project of the ${root} (default: "default")`)
    .action(async (text: string, options: SessionOptions & ProjectOption & T) => {
      cli.exitCode = await withSession(cli.io, options, async (session) => {
        const located = await locateKind(session, text, kind, options)
        return located.ok ? await work(session, located.value, options) : session.refuse(located.refusal)
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
