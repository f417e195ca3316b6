import { fitChanges, MAX_CHANGES_SIZE, type PlannedChange, type PlannedField } from '../../core/dry-run.ts'
import { LIMITS } from '../../core/limits.ts'
import { fitText } from './fit-text.ts'
import type { DryRun, DryRunOutcome, Work } from './work.ts'

/** The agent's work, with dry runs if it does any. */
export const withDryRuns = (work: Work, dryRun: DryRun | undefined): Work =>
  dryRun === undefined
    ? work
    : async (item, context) => {
        if (item.action !== 'DRY_RUN') return await work(item, context)
        const { signal, lost } = context
        const outcome = await dryRun(item, { signal, lost })
        return outcome && !signal.aborted ? { dryRun: fitOutcome(outcome) } : null
      }

/** Cuts an outcome to the bounds of the server: a large change costs its details, and not the dry run. */
function fitOutcome(outcome: DryRunOutcome): DryRunOutcome {
  if ('skipped' in outcome) return { skipped: fitText(outcome.skipped, LIMITS.plannedReason) }
  if ('error' in outcome) {
    const { code, message } = outcome.error
    return { error: { code: fitText(code, LIMITS.errorCode), message: fitText(message, LIMITS.message) } }
  }
  const some = outcome.changes.slice(0, LIMITS.plannedChanges.max)
  const { changes, truncated } = fitChanges(some.map(fitChange), MAX_CHANGES_SIZE)
  const isCut = some.some(
    ({ fields, diff }) =>
      (fields?.length ?? 0) > LIMITS.plannedFields.max || (diff?.length ?? 0) > LIMITS.plannedDiff.max,
  )
  return {
    changes,
    truncated: [outcome.truncated, truncated, isCut, some.length < outcome.changes.length].some(Boolean),
  }
}

const nameOf = (text: string): string => fitText(text, LIMITS.plannedName)

const fitChange = ({
  group = '',
  kind,
  namespace,
  name,
  action,
  reason,
  fields,
  diff,
}: PlannedChange): PlannedChange => ({
  ...{ group: nameOf(group), kind: nameOf(kind), name: nameOf(name), action },
  namespace: namespace ? nameOf(namespace) : null,
  reason: reason ? fitText(reason, LIMITS.plannedReason) : null,
  fields: (fields ?? []).slice(0, LIMITS.plannedFields.max).map(fitField),
  diff: diff ? fitText(diff, LIMITS.plannedDiff) : null,
})

const fitField = ({ path, before, after, masked = false }: PlannedField): PlannedField => ({
  ...{ path: nameOf(path), before: fitValue(before), after: fitValue(after), masked },
})

/** A large value becomes the beginning of its text. */
function fitValue(value: unknown): unknown {
  const text = JSON.stringify(value) ?? 'null'
  return text.length <= LIMITS.plannedValue.max
    ? (value ?? null)
    : fitText(text, { ...LIMITS.plannedValue, max: 1_000 })
}
