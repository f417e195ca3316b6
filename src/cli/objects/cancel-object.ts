import { invalid } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import type { Session } from '../session.ts'
import { ask } from '../terminal/ask.ts'
import { EXIT } from '../terminal/exit.ts'
import { articled, words } from '../terminal/text.ts'
import type { Located } from './address.ts'
import { follow } from './follow.ts'
import { findVerb, readMachines } from './machines.ts'
import type { PendingExit } from './object-command.ts'
import { OF_OBJECT, verbDocument } from './verbs.ts'

export interface CancelOptions {
  readonly reason?: string
  readonly wait?: boolean
}

const PENDING = gql(`query PendingRequests($id: ID!) { object(id: $id) { pendingRequests { verb mode by } } }`)

/** Cancels an object; with `wait`, follows it until nothing runs. */
export async function cancelObject(
  session: Session,
  object: Located,
  { reason, wait }: CancelOptions,
): Promise<PendingExit> {
  const verb = findVerb(await readMachines(session.client, session.io.signal), object.kind, 'cancel')
  if (!verb) {
    const hint = object.id === object.root.id ? '' : ' by itself: cancel what it belongs to'
    return session.refuse(
      invalid(`${object.name} is ${articled(words(object.kind))}, which cannot be cancelled${hint}.`),
    )
  }
  type Cancelled = Pick<Located, 'id' | 'kind' | 'name' | 'phase'>
  const document = verbDocument<Cancelled>(verb, OF_OBJECT)
  const pending =
    (await session.client.query(PENDING, { id: object.id }, { signal: session.io.signal })).object?.pendingRequests ??
    []
  const input = { ...(verb.input as object), id: object.id, ...(reason === undefined ? {} : { reason }) }
  const outcome = await ask(session, document, input)
  if (!outcome.ok) return session.refuse(outcome.refusal)
  session.emit(outcome.value)
  session.say(`${object.name} asked to cancel, now ${outcome.value.phase}`)
  for (const { mode, by } of pending.filter(({ verb: requested }) => requested === 'reconcile')) {
    const who = by === null ? '' : `, which ${by} has requested`
    session.say(`dropped: the ${mode} job that was to follow${who}. \`phaseline reconcile ${object.name}\` begins one.`)
  }
  if (!wait) return EXIT.ok
  // A job that succeeded before the request was not cancelled.
  return () => follow(session, object.root.id, (result) => result.outcome !== 'succeeded', { focusId: object.id })
}
