import { Machines } from '../../src/cli/objects/machines.ts'
import { allMachines } from '../../src/families/machines.ts'

/** The product's machines as the command line reads them. */
export const machinesOf = (machines = allMachines): Machines =>
  new Machines(
    machines.map((machine) => ({
      ...machine,
      classes: [...machine.classes].map(([phase, phaseClass]) => ({ phase, class: phaseClass })),
    })),
  )
