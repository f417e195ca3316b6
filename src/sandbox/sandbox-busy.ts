import { Busy } from '../core/busy.ts'

/** Nothing is known of what was to be evaluated or judged: another attempt may succeed. */
export class SandboxBusy extends Busy {
  constructor(message: string, waiting: number | null) {
    super('The sandbox', { waiting, waitedMs: 0 })
    this.message = message
  }
}

/**
 * Jobs of the owner had to be stopped lately, or were slow, and others of it are evaluated: those of a further call wait outside.
 * @param waiting calls of the owner that run or wait
 */
export const ownerBusy = (waiting: number): SandboxBusy =>
  new SandboxBusy('Other expressions of the same owner take long.', waiting)

/** Its worker hardly had the processor, or was killed from outside. */
export const machineBusy = (): SandboxBusy =>
  new SandboxBusy('The machine is too busy to judge expressions and configs.', null)
