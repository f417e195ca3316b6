import type { Client } from '../../client/index.ts'
import type { PhaseClass } from '../../core/machine.ts'
import type { ObjectKind, Phase } from '../../core/vocabulary.ts'
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

  /**
   * The failed phases that objects of these kinds, or of all, leave by themselves: what failed is undone, and with a creation
   * the object goes. One that only a person ends is not among them.
   */
  undoneFailures(kinds: readonly ObjectKind[] | null): {
    readonly kinds: readonly ObjectKind[]
    readonly to: readonly Phase[]
  } {
    const found = this.#all.flatMap((machine) => {
      const ofKinds = machine.kinds.filter((kind) => kinds === null || kinds.includes(kind))
      return this.#undoneIn(machine).flatMap((phase) => ofKinds.map((kind) => ({ kind, phase })))
    })
    return { kinds: [...new Set(found.map(({ kind }) => kind))], to: [...new Set(found.map(({ phase }) => phase))] }
  }

  #undoneIn({ classes, final, transitions }: MachineInfo): readonly Phase[] {
    return classes.flatMap(({ phase, class: phaseClass }) => {
      const isLeft = transitions.some(({ from, actor }) => from === phase && actor !== 'USER')
      return phaseClass === 'FAILED' && !final.includes(phase) && isLeft ? phase : []
    })
  }

  /** GONE is no phase of a machine: it is the end of a removal. */
  classOf(phase: string): PhaseClass {
    return this.#classes.get(phase) ?? (phase === 'GONE' ? 'REMOVING' : 'ACTIVE')
  }

  /** True if the kind has a phase for an end without success; otherwise only an object's error shows it. */
  endsInFailure(kind: string): boolean {
    return this.of(kind)?.final.some((phase) => this.classOf(phase) === 'FAILED') ?? true
  }

  verb(kind: string, name: string): VerbInfo | undefined {
    return this.#all.flatMap(({ verbs }) => verbs).find((verb) => verb.kind === kind && verb.name === name)
  }
}
