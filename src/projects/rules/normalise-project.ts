import { type LabelInput, labelsOf } from '../../core/labels.ts'
import type { Problems } from '../../core/problems.ts'
import type { TaskJob } from '../../families/tasks.ts'
import { checkName, checkWord } from './names.ts'
import { normaliseWorkload, type WorkloadInput } from './normalise-workload.ts'
import type { Limits, Strategy, Subscription, WorkloadSpec } from './spec.ts'

/** Converts API input to the stored project. A field that the input omits is not changed. */

export interface ProjectInput {
  /** Null: removes it. */
  readonly workerTemplate?: WorkloadInput | null
  readonly subscriptions?: readonly SubscriptionInput[] | null
  readonly limits?: LimitsInput | null
  readonly promotesTo?: string | null
}
export interface SubscriptionInput {
  readonly source: string
  readonly types: readonly string[]
  readonly qualifiers?: readonly LabelInput[] | null
  readonly labels?: readonly LabelInput[] | null
  readonly task?: { readonly jobs: readonly TaskJob[] } | null
}
export interface LimitsInput {
  readonly maxWorkers?: number | null
  readonly maxJobs?: number | null
  readonly strategy?: Strategy | null
}

/** The fields to change. */
export interface ProjectChange {
  readonly workerTemplate?: WorkloadSpec | null
  readonly subscriptions?: readonly Subscription[]
  readonly limits?: Partial<Limits>
  readonly promotesTo?: string | null
}

const MAX_SLOTS = 100_000
const NO_LIMITS: Limits = { maxWorkers: null, maxJobs: null, strategy: 'QUEUE' }

export function normaliseProject(
  input: ProjectInput & { readonly name?: string },
  path: string,
  problems: Problems,
): ProjectChange {
  const { workerTemplate, subscriptions, limits, promotesTo } = input
  if (typeof promotesTo === 'string') checkName(promotesTo, `${path}.promotesTo`, problems)
  if (promotesTo && promotesTo === input.name) problems.add(`${path}.promotesTo`, 'is the project itself')
  return {
    ...(workerTemplate === undefined
      ? {}
      : {
          workerTemplate:
            workerTemplate &&
            normaliseWorkload(workerTemplate, `${path}.workerTemplate`, problems, { runtime: 'process' }),
        }),
    ...(subscriptions === undefined
      ? {}
      : { subscriptions: normaliseSubscriptions(subscriptions ?? [], `${path}.subscriptions`, problems) }),
    ...(limits === undefined
      ? {}
      : { limits: limits ? normaliseLimits(limits, `${path}.limits`, problems) : NO_LIMITS }),
    ...(promotesTo === undefined ? {} : { promotesTo }),
  }
}

function normaliseSubscriptions(
  input: readonly SubscriptionInput[],
  path: string,
  problems: Problems,
): readonly Subscription[] {
  return input.map(({ source, types, qualifiers, labels, task }, i) => {
    const at = `${path}.${i}`
    checkWord(source, `${at}.source`, problems)
    for (const [n, type] of types.entries()) checkWord(type, `${at}.types.${n}`, problems)
    if (types.length === 0) problems.add(`${at}.types`, 'must name a type, or be ["*"] for all')
    return {
      source,
      types: [...new Set(types)],
      qualifiers: labelsOf(qualifiers ?? [], problems, `${at}.qualifiers`),
      labels: labelsOf(labels ?? [], problems, `${at}.labels`),
      task: task?.jobs ?? null,
    }
  })
}

/** Null clears a limit. */
function normaliseLimits(input: LimitsInput, path: string, problems: Problems): Partial<Limits> {
  const { maxWorkers, maxJobs, strategy } = input
  for (const [name, value] of Object.entries({ maxWorkers, maxJobs })) {
    if (typeof value === 'number' && !(value >= 0 && value <= MAX_SLOTS))
      problems.add(`${path}.${name}`, `must be from 0 to ${MAX_SLOTS}`)
  }
  return {
    ...(maxWorkers === undefined ? {} : { maxWorkers }),
    ...(maxJobs === undefined ? {} : { maxJobs }),
    ...(strategy === undefined ? {} : { strategy: strategy ?? NO_LIMITS.strategy }),
  }
}
