import type { PhaseClass } from '../core/machine.ts'

/** The part of a state machine that clients judge by, as the API returns it. */
export interface Machine<Kind extends string = string, Phase extends string = string> {
  readonly name: string
  readonly kinds: readonly Kind[]
  readonly initial: Phase
  readonly final: readonly Phase[]
  readonly classes: readonly { readonly phase: Phase; readonly class: PhaseClass }[]
  readonly transitions: readonly { readonly from: Phase; readonly actor: string }[]
}

/** All machines of a server, by the kinds whose phase they move. */
export class Machines<M extends Machine = Machine> {
  readonly all: readonly M[]
  readonly #byKind = new Map<string, M>()
  readonly #classes = new Map<string, PhaseClass>()

  constructor(all: readonly M[]) {
    this.all = all
    for (const machine of all) {
      // A kind with two machines (cloudlet, cloudletUpgrade) has its phases from the first.
      for (const kind of machine.kinds) if (!this.#byKind.has(kind)) this.#byKind.set(kind, machine)
      for (const { phase, class: phaseClass } of machine.classes) this.#classes.set(phase, phaseClass)
    }
  }

  get kinds(): readonly string[] {
    return [...this.#byKind.keys()]
  }
  /** The roles that move objects. */
  get actors(): readonly string[] {
    return [...new Set(this.all.flatMap(({ transitions }) => transitions.map(({ actor }) => actor)))].sort()
  }

  /** The machine of the kind's phase; the others (an upgrade) do not move it. */
  of(kind: string): M | undefined {
    return this.#byKind.get(kind)
  }

  isFinal(kind: string, phase: string): boolean {
    return this.of(kind)?.final.includes(phase) ?? false
  }

  /** GONE is no phase of a machine: it is the end of a removal. */
  classOf(phase: string): PhaseClass {
    return this.#classes.get(phase) ?? (phase === 'GONE' ? 'REMOVING' : 'ACTIVE')
  }

  /** The phases of a class. */
  phasesOf(phaseClass: string): readonly string[] {
    return [...this.#classes.keys(), 'GONE'].filter((phase) => this.classOf(phase) === phaseClass)
  }

  /** True if the kind has a phase for an end without success; otherwise only an object's error shows it. */
  endsInFailure(kind: string): boolean {
    return this.of(kind)?.final.some((phase) => this.classOf(phase) === 'FAILED') ?? true
  }

  /** True if a change moves the phase of its object: not on another machine, refused, or only requested. */
  moves(change: {
    readonly kind: string
    readonly machine: string
    readonly revision: number
    readonly rejected: boolean
  }): boolean {
    if (change.rejected || change.revision === 0) return false
    const own = this.of(change.kind)
    return own === undefined || own.name === change.machine
  }
}

/**
 * The failed phases that objects of these kinds, or of all, leave by themselves, with the kinds that have them: what failed is
 * undone, and with a creation the object goes. A failure that only a person ends is not among them.
 */
export function undoneFailures<Kind extends string, Phase extends string>(
  machines: readonly Machine<Kind, Phase>[],
  kinds: readonly Kind[] | null,
): { readonly kinds: readonly Kind[]; readonly to: readonly Phase[] } {
  const found = machines.flatMap((machine) => {
    const ofKinds = machine.kinds.filter((kind) => kinds === null || kinds.includes(kind))
    return undoneIn(machine).flatMap((phase) => ofKinds.map((kind) => ({ kind, phase })))
  })
  return { kinds: [...new Set(found.map(({ kind }) => kind))], to: [...new Set(found.map(({ phase }) => phase))] }
}

const undoneIn = <Phase extends string>({ classes, final, transitions }: Machine<string, Phase>): readonly Phase[] =>
  classes.flatMap(({ phase, class: phaseClass }) => {
    const isLeft = transitions.some(({ from, actor }) => from === phase && actor !== 'USER')
    return phaseClass === 'FAILED' && !final.includes(phase) && isLeft ? phase : []
  })
