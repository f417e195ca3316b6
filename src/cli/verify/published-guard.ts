/** The published tables as a judge of single changes. */

/** A machine as `phaseline machines --json` prints it. */
export interface PublishedMachine {
  readonly name: string
  readonly kinds: readonly string[]
  readonly initial: string
  readonly transitions: readonly { readonly from: string; readonly actor: string; readonly to: string }[]
}

/** The fields of a line of `GET /log` that are judged. */
export interface LoggedLine {
  readonly sequence: number
  readonly objectId: string
  readonly kind: string
  readonly machine: string
  readonly from: string | null
  readonly to: string
  readonly actor: string
  readonly revision: number
  readonly rejected: boolean
  readonly requested: boolean
}

/** Null: no such text is there. */
export function parseMachines(text: string): readonly PublishedMachine[] | null {
  let machines: unknown = null
  try {
    machines = JSON.parse(text)
  } catch {}
  return Array.isArray(machines) && machines.every(isMachine) ? machines : null
}
const isMachine = (value: Partial<PublishedMachine> | null): boolean =>
  isWord(value?.name) &&
  isWord(value?.initial) &&
  Array.isArray(value?.kinds) &&
  value.kinds.every(isWord) &&
  Array.isArray(value.transitions) &&
  value.transitions.every((row: Partial<PublishedMachine['transitions'][number]> | null) =>
    [row?.from, row?.actor, row?.to].every(isWord),
  )

const MAX_WORD = 128
/** The name of a kind, a machine, a phase or an actor: verdicts repeat it. */
export const isWord = (value: unknown): boolean => typeof value === 'string' && value !== '' && value.length <= MAX_WORD

/** A change that moves an object: in one of the machines of its kind, by phases that have numbers. */
export interface Move {
  readonly slot: number
  /** NONE for a creation. */
  readonly from: number
  readonly to: number
  /** The object may have been in `from` before its first change in this machine. */
  readonly isBeginning: boolean
}
/** A text instead of a move says what is wrong. Null: the change moves nothing. */
export type Judgement = Move | string | null

export const NONE = 255
/** The machine of the kind has not moved the object. */
export const UNMOVED = 254
/** The machines that a kind may have. */
export const SLOTS = 3
/** The number of GONE, which nothing leaves. */
export const GONE = 0

/** One row of one table allows a change. Several tables of one name are those of several releases. */
export class PublishedGuard {
  readonly #phases: readonly string[]
  /** By kind and machine: the first one of a kind governs its phase, and the others have no creation. */
  readonly #slots = new Map<string, number>()
  readonly #moves = new Map<string, Omit<Move, 'slot'>>()

  /** @throws RangeError if they have more phases or machines than it can tell apart */
  constructor(machines: readonly PublishedMachine[]) {
    const named = machines.flatMap(({ initial, transitions }) => [
      initial,
      ...transitions.flatMap(({ from, to }) => [from, to]),
    ])
    this.#phases = [...new Set(['GONE', ...named])]
    const kinds = new Map<string, string[]>()
    for (const { name, kinds: all } of machines)
      for (const kind of all) kinds.set(kind, [...new Set([...(kinds.get(kind) ?? []), name])])
    for (const [kind, names] of kinds)
      for (const [slot, name] of names.entries()) this.#slots.set(`${name} ${kind}`, slot)
    if (this.#phases.length >= UNMOVED || [...this.#slots.values()].some((slot) => slot >= SLOTS))
      throw new RangeError(`Tables have at most ${UNMOVED} phases, and ${SLOTS} machines for a kind.`)
    for (const { name, kinds: all, initial, transitions } of machines) {
      const isSecondary = all.some((kind) => this.#slots.get(`${name} ${kind}`) !== 0)
      const add = (key: string, from: number, to: string, isBeginning: boolean) =>
        this.#moves.set(`${name} ${key}`, { from, to: this.#phases.indexOf(to), isBeginning })
      if (!isSecondary) add(`null ${initial}`, NONE, initial, true)
      for (const { from, actor, to } of transitions)
        add(`${from} ${actor} ${to}`, this.#phases.indexOf(from), to, isSecondary && from === initial)
    }
  }

  judge({ kind, machine, from, to, actor, revision, rejected, requested }: LoggedLine): Judgement {
    const slot = this.#slots.get(`${machine} ${kind}`)
    if (slot === undefined) return `no table ${machine} is for a ${kind}`
    if (requested !== (revision === 0 && !rejected))
      return 'a change has a revision, and a request or a refusal has none'
    if (revision === 0) return requested && from !== to ? 'a request leaves the phase as it is' : null
    if (rejected) return 'what is refused makes no revision'
    const move = this.#moves.get(from === null ? `${machine} null ${to}` : `${machine} ${from} ${actor} ${to}`)
    return move ? { slot, ...move } : `no row of ${machine} lets ${actor} move from ${from} to ${to}`
  }

  phase = (number: number): string => this.#phases[number] ?? 'nowhere'
}
