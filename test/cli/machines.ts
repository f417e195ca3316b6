import type { MachineInfo } from '../../src/cli/objects/machines.ts'
import { Machines } from '../../src/client-model/index.ts'
import { allMachines } from '../../src/families/machines.ts'

/** The product's machines as the command line reads them. */
export const machinesOf = (machines = allMachines): Machines<MachineInfo> =>
  new Machines(
    machines.map((machine) => ({
      ...machine,
      classes: [...machine.classes].map(([phase, phaseClass]) => ({ phase, class: phaseClass })),
    })),
  )
