import type { RefusalOf } from '../../../core/errors.ts'
import type { LockedProject } from '../../family.ts'
import { requireLimits } from '../../require-limits.ts'
import type { InstallationSpec } from '../rules/spec.ts'

/**
 * Refuses a spec whose items name a limit that its project lacks.
 * @param present the spec before it: a limit that is gone since then keeps nobody from an edit
 */
export async function checkLimits(
  { client, projectId }: LockedProject,
  spec: InstallationSpec,
  present: InstallationSpec | null,
): Promise<RefusalOf<'InvalidInputError'> | null> {
  const before = new Set(present && asked(present).map(({ limit }) => limit))
  const added = asked(spec).filter(({ limit }) => !before.has(limit))
  return await requireLimits(client, projectId, added)
}

const asked = (spec: InstallationSpec): Parameters<typeof requireLimits>[2] => [
  ...spec.deployItems.flatMap(({ name, limits = [] }) =>
    limits.map(({ limit }) => ({ limit, who: `the item ${name}`, path: 'input.spec' })),
  ),
  ...spec.installations.flatMap((nested) => asked(nested.spec)),
]
