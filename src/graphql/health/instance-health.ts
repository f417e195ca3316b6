import { type HealthCause, judgeCauses } from '../../core/judge-causes.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import { createContext, type GraphQLServices } from '../resolver-context.ts'
import { readFacts } from './facts.ts'

/** Milliseconds for which one judgement serves all who ask. */
const FRESH_MS = 15_000
/** Milliseconds until the answer is that nobody knows. */
const ANSWER_MS = 2_000

/** It reads everything. */
const METRICS: Viewer = {
  ...{ principalId: 'metrics', tokenId: 'metrics', name: 'metrics', actor: 'USER' },
  ...{ grants: [{ role: 'ADMINISTRATOR', projectId: null }], projects: null, types: null, targets: null },
}

/** Reads the causes of the whole instance for metrics. It never rejects; null: nobody knows them in time. */
export function instanceHealth(services: GraphQLServices): () => Promise<readonly HealthCause[] | null> {
  let reading: Promise<readonly HealthCause[] | null> | null = null
  const read = async () =>
    judgeCauses(await readFacts(createContext(services, METRICS), null), services.system.now()).causes
  return async () => {
    reading ??= read()
      .catch(() => null)
      .finally(() => {
        setTimeout(() => {
          reading = null
        }, FRESH_MS).unref()
      })
    const late = Promise.withResolvers<null>()
    const timer = setTimeout(late.resolve, ANSWER_MS, null)
    const causes = await Promise.race([reading, late.promise])
    clearTimeout(timer)
    return causes
  }
}
