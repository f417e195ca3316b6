import type { PhaseChange } from 'phaseline/client'
import { START } from './diagram.ts'
import type { Machine } from './machines.ts'

/** One change of an object's phase by a machine. */
export interface Step {
  /** From 1, in their order. */
  readonly number: number
  readonly change: PhaseChange
  /** Key of the arrow in the diagram. */
  readonly wayId: string
}
export interface WayTaken {
  readonly steps: readonly Step[]
  /** The numbers of the steps along each arrow of the diagram. */
  readonly taken: ReadonlyMap<string, readonly number[]>
  readonly refused: readonly PhaseChange[]
  /** The present phase; null: the object has not moved in this machine. */
  readonly phase: string | null
}

export const wayIdOf = (from: string | null, to: string): string => (from === null ? START : `${from} ${to}`)

/** An object's path through one machine: its kind may have a secondary one. */
export function transitionPath(machine: Machine, changes: readonly PhaseChange[]): WayTaken {
  const steps: Step[] = []
  const refused: PhaseChange[] = []
  const taken = new Map<string, number[]>()
  for (const change of changes) {
    if (change.machine !== machine.name) continue
    if (change.rejected) refused.push(change)
    if (change.rejected || change.revision === 0) continue
    const step = { number: steps.length + 1, change, wayId: wayIdOf(change.from, change.to) }
    steps.push(step)
    const numbers = taken.get(step.wayId)
    if (numbers) numbers.push(step.number)
    else taken.set(step.wayId, [step.number])
  }
  return { steps, taken, refused, phase: steps.at(-1)?.change.to ?? null }
}

/** The most numbers on an arrow. */
const SHOWN = 3
/** e.g. `2, 5, 8 …`. */
export const numbersText = (numbers: readonly number[]): string =>
  numbers.length > SHOWN ? `${numbers.slice(0, SHOWN).join(', ')} …` : numbers.join(', ')
