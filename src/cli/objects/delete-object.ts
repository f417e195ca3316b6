import { invalid, type Outcome, refused } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import type { Session } from '../session.ts'
import { ask } from '../terminal/ask.ts'
import { EXIT } from '../terminal/exit.ts'
import { isConfirmed } from '../terminal/terminal-input.ts'
import { articled, words } from '../terminal/text.ts'
import { addressIn, type Located } from './address.ts'
import { follow } from './follow.ts'
import { findVerb, readMachines } from './machines.ts'
import type { PendingExit } from './object-command.ts'
import { verbDocument, verbInput } from './verbs.ts'

export interface DeleteOptions {
  readonly force?: boolean
  readonly withoutUninstall?: boolean
  readonly cascade?: boolean
  /** The kind's own flags, by their names in the API. */
  readonly flag?: readonly string[]
  readonly wait?: boolean
  readonly yes?: boolean
}

/** Deletes an object; with `wait`, follows it until it is gone. */
export async function deleteObject(session: Session, object: Located, options: DeleteOptions): Promise<PendingExit> {
  const { id, kind, name, root } = object
  const request = await readDeletion(session, object, flagsOf(options))
  if (!request.ok) return session.refuse(request.refusal)
  const what = `${words(kind)} ${object.project.name}/${name}`
  if (!(await isConfirmed(session.io, options, `Delete ${what} and everything beneath it?`))) return EXIT.interrupted
  const outcome = await request.value()
  if (!outcome.ok) return session.refuse(outcome.refusal)
  session.emit({ id, kind, name, deletionRequested: true })
  session.say(`${name} asked to be deleted`)
  if (!object.finished) await noteWait(session, object)
  if (!options.wait) return EXIT.ok
  return async () => {
    const code = await follow(session, root.id, (result) => result.outcome === 'gone', { focusId: id })
    if (code === EXIT.failed) await noteFailure(session, object)
    return code
  }
}

/** Only a person repeats a deletion that has failed, with the flag if what is deployed cannot be removed. */
async function noteFailure(session: Session, { kind, name, project }: Located): Promise<void> {
  const again = `phaseline delete ${addressIn(project.name, [name])}`
  const verb = findVerb(await readMachines(session.client, session.io.signal), kind, 'delete')
  const canLeave = verb?.flags.some((flag) => flag.name === 'withoutUninstall') ?? false
  const leave = canLeave ? ' With --without-uninstall, what is deployed stays where it is.' : ''
  session.note(`It is still there. To try again: ${again}.${leave}`)
}

const PENDING = gql(
  'query PendingDeletion($id: ID!) { object(id: $id) { pendingRequests { verb message } blockedBy { reason } } }',
)

/** Says that a deletion waits for the running job, which may be another deletion, and how that ends sooner. */
async function noteWait(session: Session, { id, name, project }: Located): Promise<void> {
  const { object } = await session.client.query(PENDING, { id }, { signal: session.io.signal })
  // One that begins now, or once the tree is resumed, waits for no job.
  const waits = object?.pendingRequests.find(({ verb, message }) => verb === 'delete' && /running job/.test(message))
  if (!waits) return
  // In a job that runs, only a gate has a DECISION.
  const isAtGate = object?.blockedBy.some(({ reason }) => reason === 'GATE' || reason === 'DECISION')
  const how = isAtGate ? 'Its gates end by themselves. To end that job sooner' : 'To end that job'
  session.note(`${waits.message} ${how}: phaseline cancel ${addressIn(project.name, [name])}`)
}

type Deleted = Pick<Located, 'id' | 'kind'>

/** The request that deletes an object. */
async function readDeletion(
  session: Session,
  { id, kind }: Deleted,
  flags: readonly string[],
): Promise<Outcome<() => Promise<Outcome<object>>>> {
  const verb = findVerb(await readMachines(session.client, session.io.signal), kind, 'delete')
  if (!verb)
    return refused(
      invalid(`It is ${articled(words(kind))}, which cannot be deleted by itself: delete what it belongs to.`),
    )
  const input = verbInput(verb, id, flags)
  return input.ok ? { ok: true, value: () => ask(session, verbDocument(verb), input.value) } : input
}

/** Asks for the deletion, without a question. */
export async function requestDeletion(session: Session, object: Deleted): Promise<Outcome<object>> {
  const request = await readDeletion(session, object, [])
  return request.ok ? await request.value() : request
}

export const flagsOf = ({ flag = [], ...options }: DeleteOptions): readonly string[] => [
  ...(['force', 'withoutUninstall', 'cascade'] as const).filter((name) => options[name] === true),
  ...flag,
]
