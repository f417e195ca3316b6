/** Jobs of the owner had to be stopped lately, or were slow, and others of it are evaluated: those of a further call wait outside. */
export class OwnerBusy extends Error {
  constructor() {
    super('Other expressions of the same owner take long.')
  }
}
