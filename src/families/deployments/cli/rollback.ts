import type { Command } from 'commander'
import type { Cli } from '../../../cli/cli.ts'
import { type AddressOptions, locate, withAddressOptions } from '../../../cli/objects/address.ts'
import { follow } from '../../../cli/objects/follow.ts'
import { parseCount } from '../../../cli/options.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../../../cli/session.ts'
import { ask } from '../../../cli/terminal/ask.ts'
import { EXIT, type ExitCode } from '../../../cli/terminal/exit.ts'
import { invalid, REFUSAL_FRAGMENT } from '../../../client-model/index.ts'
import { gql } from '../../../documents/gql.ts'
import type { ResultOf } from '../../../documents/typed-document.ts'

const GENERATIONS = gql(`query Generations($id: ID!) {
  object(id: $id) { __typename ... on Installation {
    generation specGenerations { generation } runs(first: 101) { edges { node { generation phase } } }
  } }
}`)
const ROLL_BACK = gql(`mutation RollBack($input: RollbackInstallationInput!) {
  answer: rollbackInstallation(input: $input) { __typename ... on Installation { id name phase finished generation pendingRequests { verb message } } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)

interface RollbackOptions extends SessionOptions, AddressOptions {
  readonly to?: number
  readonly wait?: boolean
}

/** `phaseline rollback NAME`: brings back an earlier spec of a root installation. */
export function addRollback(command: Command, cli: Cli): void {
  withSessionOptions(withAddressOptions(command))
    .argument('<name>', 'id, or path')
    .option(
      '--to <generation>',
      'which one: the column SPEC of `phaseline runs`; by default the last earlier one that has succeeded',
      parseCount,
    )
    .option('--wait', 'follow the tree until it is finished')
    .action(async (name: string, options: RollbackOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) => rollBack(session, name, options))
    })
}

async function rollBack(session: Session, name: string, options: RollbackOptions): Promise<ExitCode> {
  const located = await locate(session, name, options)
  if (!located.ok) return session.refuse(located.refusal)
  const { id, root } = located.value
  if (id !== root.id)
    return session.refuse(invalid(`${name} is a part of ${root.name}, which is rolled back as a whole.`))
  const { object } = await session.client.query(GENERATIONS, { id }, { signal: session.io.signal })
  if (object?.__typename !== 'Installation') return session.refuse(invalid(`${name} is no installation.`))
  if (options.to === undefined && object.specGenerations.length === 0)
    return session.refuse(invalid(`${name} has no earlier spec: its spec was never changed.`))
  const toGeneration = options.to ?? lastGood(object)
  if (toGeneration === undefined) {
    const kept = object.specGenerations.map(({ generation }) => generation).join(', ')
    return session.refuse(invalid(`No earlier spec of ${name} has succeeded: choose one with --to (${kept}).`))
  }
  // A change of somebody else meanwhile must not be lost.
  const outcome = await ask(session, ROLL_BACK, { id, toGeneration, expectedGeneration: object.generation })
  if (!outcome.ok) return session.refuse(outcome.refusal)
  session.emit(outcome.value)
  const { generation, phase, finished, pendingRequests } = outcome.value
  // The phase is that of the job before until the new one begins.
  const now = pendingRequests.at(-1)?.message ?? (finished ? 'Nothing is to be done.' : `It is ${phase}.`)
  session.say(`Rolled back ${outcome.value.name} to spec ${toGeneration} (now spec ${generation}). ${now}`)
  if (!options.wait) return EXIT.ok
  return await follow(session, id, (result) => result.outcome === 'succeeded')
}

type Rolled = Extract<NonNullable<ResultOf<typeof GENERATIONS>['object']>, { readonly __typename: 'Installation' }>

/** The newest of the kept specs with a run that succeeded. */
function lastGood({ specGenerations, runs }: Rolled): number | undefined {
  const good = new Set(runs.edges.flatMap(({ node }) => (node.phase === 'SUCCEEDED' ? node.generation : [])))
  return specGenerations.map(({ generation }) => generation).find((generation) => good.has(generation))
}
