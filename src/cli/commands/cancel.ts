import type { Command } from 'commander'
import { type AddressOptions, type Located, locate, withAddressOptions } from '../address.ts'
import type { Cli } from '../cli.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { follow } from '../follow.ts'
import { cancelMutation } from '../kind-mutations.ts'
import { type Answer, invalid, outcomeOf } from '../refusal.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../session.ts'
import { plain } from '../text.ts'

interface CancelOptions extends SessionOptions, AddressOptions {
  readonly reason?: string
  readonly wait?: boolean
}

/** `phaseline cancel NAME`: nothing new is started, and what runs is asked to stop. */
export function addCancel(program: Command, cli: Cli): void {
  withSessionOptions(withAddressOptions(program.command('cancel')))
    .description('cancel the running job of an installation, event, job, task or edge instance')
    .argument('<name>', 'id, or path')
    .option('--reason <text>', 'why, for the log')
    .option('--wait', 'follow the tree until nothing runs any more')
    .action(async (name: string, options: CancelOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) => cancel(session, name, options))
    })
}

async function cancel(session: Session, name: string, options: CancelOptions): Promise<ExitCode> {
  const located = await locate(session, name, options)
  if (!located.ok) return session.refuse(located.refusal)
  const object = located.value
  const mutation = cancelMutation(object.kind)
  if (!mutation)
    return session.refuse(invalid(`${object.kind} cannot be cancelled by itself: cancel what it belongs to.`))
  const answer = await session.client.query<{ answer: Answer<Pick<Located, 'id' | 'kind' | 'name' | 'phase'>> | null }>(
    mutation,
    { input: { id: object.id, ...(options.reason === undefined ? {} : { reason: options.reason }) } },
    { signal: session.io.signal },
  )
  const outcome = outcomeOf(answer.answer)
  if (!outcome.ok) return session.refuse(outcome.refusal)
  session.emit(outcome.value)
  session.say(`${plain(object.name)} asked to cancel, now ${outcome.value.phase}`)
  if (!options.wait) return EXIT.ok
  // To have ended without success is what was asked for; a job that succeeded first was not cancelled.
  return await follow(session, object.root.id, (result) => result.outcome !== 'succeeded', { focusId: object.id })
}
