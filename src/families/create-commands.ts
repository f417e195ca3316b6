import type { FamilyServices } from '../graphql/context.ts'
import { bindCommands } from './command.ts'
import type { FamilyParts, LoadedFamily } from './define-family.ts'
import { updateLabelsCommand } from './update-labels.ts'

/** The commands of all families, and those that all kinds have alike, as the resolvers call them. */
export function createCommands(families: readonly LoadedFamily[], parts: FamilyParts): FamilyServices {
  const services = bindCommands(parts, { updateLabels: updateLabelsCommand }) as FamilyServices
  for (const family of families) Object.assign(services, family.commands(parts, services))
  return services
}
