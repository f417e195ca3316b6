import type { Client } from '../../client/index.ts'
import type { PhaseClass } from '../../core/machine.ts'
import type { Phase } from '../../core/vocabulary.ts'
import { gql } from '../../documents/gql.ts'
import type { ResultOf } from '../../documents/typed-document.ts'

const MACHINES = gql(`query Machines {
  stateMachines {
    name kinds initial final jobSpansTree classes { phase class } verbs { kind name mutation phases input flags { name } }
  }
}`)
export type MachineInfo = ResultOf<typeof MACHINES>['stateMachines'][number]
/** A verb of a kind, and its mutation. */
export type VerbInfo = MachineInfo['verbs'][number]

/** Reads the server's state machines: the classes of phases, and the verbs of users, for all kinds. */
export async function readMachines(client: Client, signal: AbortSignal): Promise<Machines> {
  const { stateMachines } = await client.query(MACHINES, {}, { signal })
  return new Machines(stateMachines)
}

export class Machines {
  readonly #all: readonly MachineInfo[]
  readonly #byKind = new Map<string, MachineInfo>()
  readonly #classes = new Map<string, PhaseClass>()

  constructor(all: readonly MachineInfo[]) {
    this.#all = all
    for (const machine of all) {
      // A kind with two machines (cloudlet, cloudletUpgrade) has its phases from the first.
      for (const kind of machine.kinds) if (!this.#byKind.has(kind)) this.#byKind.set(kind, machine)
      for (const { phase, class: phaseClass } of machine.classes) this.#classes.set(phase, phaseClass)
    }
  }

  /** The machine of the kind's phase; the others (an upgrade) do not move it. */
  of(kind: string): MachineInfo | undefined {
    return this.#byKind.get(kind)
  }

  isFinal(kind: string, phase: string): boolean {
    return this.of(kind)?.final.some((final) => final === phase) ?? false
  }

  /** Failed phases that no object stays in: what failed is undone, and with a creation the object goes. */
  get passingFailures(): readonly Phase[] {
    const failed = (phase: string): boolean => this.classOf(phase) === 'FAILED'
    const passing = this.#all.flatMap(({ classes, final }) =>
      classes.flatMap(({ phase }) => (failed(phase) && !final.includes(phase) ? phase : [])),
    )
    return [...new Set(passing)]
  }

  /** Whether objects may stay in the phase of this machine for good. */
  staysIn(machine: string, phase: string): boolean {
    return this.#all.find(({ name }) => name === machine)?.final.some((final) => final === phase) ?? true
  }

  /** GONE is no phase of a machine: it is the end of a removal. */
  classOf(phase: string): PhaseClass {
    return this.#classes.get(phase) ?? (phase === 'GONE' ? 'REMOVING' : 'ACTIVE')
  }

  /** Whether the kind has a phase for an end without success; otherwise only an object's error shows it. */
  endsInFailure(kind: string): boolean {
    return this.of(kind)?.final.some((phase) => this.classOf(phase) === 'FAILED') ?? true
  }

  verb(kind: string, name: string): VerbInfo | undefined {
    return this.#all.flatMap(({ verbs }) => verbs).find((verb) => verb.kind === kind && verb.name === name)
  }
}
