import type { Command } from 'commander'
import { type AddressOptions, type Located, locate, withAddressOptions } from '../address.ts'
import type { Cli } from '../cli.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { follow } from '../follow.ts'
import { deleteInput, deleteMutation } from '../kind-mutations.ts'
import { type Answer, invalid, outcomeOf } from '../refusal.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../session.ts'
import { plain } from '../text.ts'

interface DeleteOptions extends SessionOptions, AddressOptions {
  readonly force?: boolean
  readonly withoutUninstall?: boolean
  readonly cascade?: boolean
  readonly wait?: boolean
}

/** `phaseline delete NAME`. */
export function addDelete(program: Command, cli: Cli): void {
  withSessionOptions(withAddressOptions(program.command('delete')))
    .description('delete an installation, event, task, cloudlet or edge instance with everything beneath it')
    .argument('<name>', 'id, or path')
    .option('--force', 'installations: even while a sibling imports from it')
    .option('--without-uninstall', 'installations: forget the items without asking their deployers')
    .option('--cascade', 'cloudlets and cluster instances: with the instances on them')
    .option('--wait', 'follow the tree until it is gone')
    .action(async (name: string, options: DeleteOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) => remove(session, name, options))
    })
}

async function remove(session: Session, name: string, options: DeleteOptions): Promise<ExitCode> {
  const located = await locate(session, name, options)
  if (!located.ok) return session.refuse(located.refusal)
  const object = located.value
  const mutation = deleteMutation(object.kind)
  if (!mutation)
    return session.refuse(invalid(`${object.kind} cannot be deleted by itself: delete what it belongs to.`))
  const input = deleteInput(object.kind, object.id, options)
  if (!input.ok) return session.refuse(input.refusal)
  const answer = await session.client.query<{ answer: Answer<object> | null }>(
    mutation,
    { input: input.value },
    { signal: session.io.signal },
  )
  const outcome = outcomeOf(answer.answer)
  if (!outcome.ok) return session.refuse(outcome.refusal)
  report(session, object)
  if (!options.wait) return EXIT.ok
  return await follow(session, object.root.id, (result) => result.outcome === 'gone', { focusId: object.id })
}

function report(session: Session, { id, kind, name }: Located): void {
  session.emit({ id, kind, name, deletionRequested: true })
  session.say(`${plain(name)} asked to be deleted`)
}
