/** A state machine as the API returns it. */
export interface Machine {
  readonly name: string
  readonly kinds: readonly string[]
  readonly initial: string
  readonly final: readonly string[]
  readonly phases: readonly string[]
  readonly transitions: readonly MachineRow[]
}
export interface MachineRow {
  readonly from: string
  readonly actor: string
  readonly to: string
  readonly reason: string
}

/** The machine of an object's `phase`; secondary machines (an upgrade) do not move it. */
export class Machines {
  readonly all: readonly Machine[]
  readonly #byKind = new Map<string, Machine>()

  constructor(all: readonly Machine[]) {
    this.all = all
    for (const machine of all) {
      for (const kind of machine.kinds) if (!this.#byKind.has(kind)) this.#byKind.set(kind, machine)
    }
  }
  get kinds(): readonly string[] {
    return [...this.#byKind.keys()]
  }
  /** The roles that move objects. */
  get actors(): readonly string[] {
    return [...new Set(this.all.flatMap(({ transitions }) => transitions.map(({ actor }) => actor)))].sort()
  }
  of(kind: string): Machine | undefined {
    return this.#byKind.get(kind)
  }
  isFinal(kind: string, phase: string): boolean {
    return this.of(kind)?.final.includes(phase) ?? false
  }
  /** True if a change moves the phase of its object: not on another machine, refused, or only requested. */
  moves({
    kind,
    machine,
    revision,
  }: {
    readonly kind: string
    readonly machine: string
    readonly revision: number
  }): boolean {
    if (revision === 0) return false
    const own = this.of(kind)
    return own === undefined || own.name === machine
  }
}
