import type { Machine as JudgedMachine } from 'phaseline/client-model'

/** A state machine as its page shows it. */
export interface Machine extends JudgedMachine {
  readonly phases: readonly string[]
  readonly transitions: readonly MachineRow[]
}
export interface MachineRow {
  readonly from: string
  readonly actor: string
  readonly to: string
  readonly reason: string
}
