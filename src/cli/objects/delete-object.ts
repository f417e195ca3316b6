import { invalid } from '../../client-model/index.ts'
import type { Session } from '../session.ts'
import { ask } from '../terminal/ask.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { confirm } from '../terminal/terminal-input.ts'
import { words } from '../terminal/text.ts'
import type { Located } from './address.ts'
import { follow } from './follow.ts'
import { findVerb, readMachines } from './machines.ts'
import { verbDocument, verbInput } from './verbs.ts'

export interface DeleteOptions {
  readonly force?: boolean
  readonly withoutUninstall?: boolean
  readonly cascade?: boolean
  /** The kind's own flags, by their names in the API. */
  readonly flag?: readonly string[]
  readonly wait?: boolean
  /** Skips the confirmation at a terminal, where the command has the option. */
  readonly yes?: boolean
}

/** Deletes an object; with `wait`, follows it until it is gone. */
export async function deleteObject(session: Session, object: Located, options: DeleteOptions): Promise<ExitCode> {
  const { id, kind, name, root } = object
  const verb = findVerb(await readMachines(session.client, session.io.signal), kind, 'delete')
  if (!verb) return session.refuse(invalid(`${kind} cannot be deleted by itself: delete what it belongs to.`))
  const input = verbInput(verb, id, flagsOf(options))
  if (!input.ok) return session.refuse(input.refusal)
  if (options.yes !== true && session.io.stdin.isTTY === true) {
    const what = `${words(kind)} ${object.project.name}/${name}`
    if (!(await confirm(session.io, `Delete ${what} and everything beneath it?`))) return EXIT.interrupted
  }
  const outcome = await ask(session, verbDocument(verb), input.value)
  if (!outcome.ok) return session.refuse(outcome.refusal)
  session.emit({ id, kind, name, deletionRequested: true })
  session.say(`${name} asked to be deleted`)
  if (!options.wait) return EXIT.ok
  return await follow(session, root.id, (result) => result.outcome === 'gone', { focusId: id })
}

const flagsOf = ({ flag = [], ...options }: DeleteOptions): readonly string[] => [
  ...(['force', 'withoutUninstall', 'cascade'] as const).filter((name) => options[name] === true),
  ...flag,
]
