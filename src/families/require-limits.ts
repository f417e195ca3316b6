import { invalidInput, type RefusalOf } from '../core/errors.ts'
import type { Client } from '../store/client.ts'
import { missingLimits } from '../store/limit-names.ts'

interface Asking {
  readonly limit: string
  /** As a message says it. */
  readonly who: string
  /** In the input. */
  readonly path: string
}

/** Refuses what asks for limits that its project lacks, and no other one shares. */
export async function requireLimits(
  client: Client,
  projectId: string,
  asking: readonly Asking[],
): Promise<RefusalOf<'InvalidInputError'> | null> {
  const names = asking.map(({ limit }) => limit)
  const missing = await missingLimits(client, projectId, names)
  const problems = asking
    .filter(({ limit }) => missing.has(limit))
    .map(({ limit, who, path }) => ({
      path,
      message: `${who} asks for the limit ${limit}, ${limit.includes('/') ? 'which no other project shares' : 'which the project lacks'}: create it first`,
    }))
  return problems.length > 0 ? invalidInput(problems.slice(0, 100)) : null
}
