import type { Session } from '../session.ts'
import { ask } from '../terminal/ask.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { plain } from '../terminal/text.ts'
import type { Located } from './address.ts'
import { follow } from './follow.ts'
import { type DeleteFlags, deleteInput, deleteMutation } from './kind-mutations.ts'
import { invalid } from './refusal.ts'

export interface DeleteOptions extends DeleteFlags {
  readonly wait?: boolean
}

/** Asks for it, and waits until it is gone if that is wanted. */
export async function deleteObject(session: Session, object: Located, options: DeleteOptions): Promise<ExitCode> {
  const { id, kind, name, root } = object
  const mutation = deleteMutation(kind)
  if (!mutation) return session.refuse(invalid(`${kind} cannot be deleted by itself: delete what it belongs to.`))
  const input = deleteInput(kind, id, options)
  if (!input.ok) return session.refuse(input.refusal)
  const outcome = await ask(session, mutation, input.value)
  if (!outcome.ok) return session.refuse(outcome.refusal)
  session.emit({ id, kind, name, deletionRequested: true })
  session.say(`${plain(name)} asked to be deleted`)
  if (!options.wait) return EXIT.ok
  return await follow(session, root.id, (result) => result.outcome === 'gone', { focusId: id })
}
