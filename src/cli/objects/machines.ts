import type { Client } from '../../client/index.ts'
import { Machines } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import type { ResultOf } from '../../documents/typed-document.ts'

const MACHINES = gql(`query Machines {
  stateMachines {
    name kinds initial final jobSpansTree classes { phase class } transitions { from actor } verbs { kind name mutation phases input flags { name } }
  }
}`)
export type MachineInfo = ResultOf<typeof MACHINES>['stateMachines'][number]
/** A verb of a kind, and its mutation. */
export type VerbInfo = MachineInfo['verbs'][number]

/** Reads the server's state machines: the classes of phases, and the verbs of users, for all kinds. */
export async function readMachines(client: Client, signal: AbortSignal): Promise<Machines<MachineInfo>> {
  const { stateMachines } = await client.query(MACHINES, {}, { signal })
  return new Machines(stateMachines)
}

export const findVerb = (machines: Machines<MachineInfo>, kind: string, name: string): VerbInfo | undefined =>
  machines.all.flatMap(({ verbs }) => verbs).find((verb) => verb.kind === kind && verb.name === name)
