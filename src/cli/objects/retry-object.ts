import { invalid } from '../../client-model/index.ts'
import type { Session } from '../session.ts'
import { ask } from '../terminal/ask.ts'
import { EXIT } from '../terminal/exit.ts'
import { articled, words } from '../terminal/text.ts'
import { addressIn, type Located } from './address.ts'
import { follow } from './follow.ts'
import { findVerb, readMachines } from './machines.ts'
import type { PendingExit } from './object-command.ts'
import { OF_OBJECT, verbDocument } from './verbs.ts'

export interface RetryOptions {
  readonly wait?: boolean
}

/** Runs again what failed of the tree that the object is in; with `wait`, follows it until it is finished. */
export async function retryObject(
  session: Session,
  { root, project }: Located,
  { wait }: RetryOptions,
): Promise<PendingExit> {
  const name = root.name
  const verb = findVerb(await readMachines(session.client, session.io.signal), root.kind, 'retry')
  if (!verb) return session.refuse(invalid(`${name} is ${articled(words(root.kind))}, which cannot be retried.`))
  // A job that runs what failed would do nothing here, and say that it had succeeded.
  if (!verb.phases.includes(root.phase)) {
    const phases = verb.phases.join(' or ')
    const command = `phaseline task retry ${addressIn(project.name, [name])} --all`
    const again = root.kind === 'TASK' ? ` \`${command}\` runs all of its jobs again.` : ''
    return session.refuse(invalid(`${name} is ${root.phase}: only what is ${phases} can be retried.${again}`))
  }
  type Retried = Pick<Located, 'id' | 'kind' | 'name' | 'phase'>
  const outcome = await ask(session, verbDocument<Retried>(verb, OF_OBJECT), { ...(verb.input as object), id: root.id })
  if (!outcome.ok) return session.refuse(outcome.refusal)
  const { id } = outcome.value
  session.emit(outcome.value)
  // An event is retried as a new one, an installation by a job of its own.
  const what =
    id === root.id ? `${name} runs again what failed` : `${outcome.value.name} runs again what failed of ${name}`
  session.say(what)
  if (!wait) return EXIT.ok
  return () => follow(session, id, (result) => result.outcome === 'succeeded')
}
