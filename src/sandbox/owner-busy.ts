import { Busy } from '../core/busy.ts'

/** Jobs of the owner had to be stopped lately, or were slow, and others of it are evaluated: those of a further call wait outside. */
export class OwnerBusy extends Busy {
  override message = 'Other expressions of the same owner take long.'

  constructor() {
    super('The sandbox', { waiting: 1, waitedMs: 0 })
  }
}
