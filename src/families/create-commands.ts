import type { FamilyServices } from '../graphql/context.ts'
import { hookCommands } from '../hooks/commands/index.ts'
import { projectCommands } from '../projects/commands/index.ts'
import type { Client } from '../store/client.ts'
import type { AskedVerb } from './asked-verb.ts'
import { bindCommands } from './command.ts'
import type { Verbs } from './creation.ts'
import { gateCommands, openByAddress } from './decide-gate.ts'
import type { FamilyParts, LoadedFamily } from './define-family.ts'
import { askedPause, pauseCommands } from './pause.ts'
import { backoffCommands } from './resolve-backoff.ts'
import type { Trigger } from './trigger.ts'
import { updateLabelsCommand } from './update-labels.ts'

/** The commands of all families, and those that belong to none of them, as the resolvers call them. */
export function createCommands(families: readonly LoadedFamily[], parts: FamilyParts): FamilyServices {
  // All of these are complete once every family is made.
  const verbs: Verbs = {}
  const triggers: Record<string, Trigger> = {}
  const askedVerbs: AskedVerb[] = []
  const ofProjects = {
    ...parts,
    verbs,
    async limitsChanged(client: Client, now: Date) {
      for (const { rules } of families) await rules.limitsChanged?.(client, now)
    },
  }
  const services = {
    verbs,
    triggers,
    askedVerbs: askedVerbs as readonly AskedVerb[],
    ...bindCommands(parts, { updateLabels: updateLabelsCommand }),
    ...bindCommands({ ...parts, families }, { ...backoffCommands, ...pauseCommands }),
    gates: {
      ...bindCommands({ ...parts, families }, gateCommands),
      openByAddress: (answer) => openByAddress({ ...parts, families }, answer),
    },
    projects: bindCommands(ofProjects, projectCommands),
    hooks: bindCommands({ ...parts, triggers }, hookCommands),
  } as FamilyServices
  for (const family of families) Object.assign(services, family.commands(parts, services))
  for (const family of families) Object.assign(verbs, family.verbs?.(services))
  for (const family of families) Object.assign(triggers, family.triggers?.(services))
  for (const family of families) {
    const asked = { ...askedPause(services), ...family.asked?.(services) }
    for (const verb of family.rules.machines.flatMap(({ verbs }) => verbs)) {
      const mutation = asked[verb.mutation]
      if (mutation) askedVerbs.push({ verb, ...mutation })
    }
  }
  return services
}
