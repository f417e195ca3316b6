import { invalidInput } from '../../../core/errors.ts'
import type { LabelInput } from '../../../core/labels.ts'
import { LIMITS } from '../../../core/limits.ts'
import { Problems } from '../../../core/problems.ts'
import { refuse } from '../../access.ts'
import type { Trigger, TriggerInput } from '../../trigger.ts'
import { rights } from '../rights.ts'
import { type EventInput, normaliseEvent } from '../rules/normalise-event.ts'
import type { PipelinesCommands } from './index.ts'

/** An event of the schedule's own project. */
export const eventTrigger = (pipelines: PipelinesCommands): Trigger => ({
  right: rights.createEvent,
  template: (input) => input,
  check(input, path, problems) {
    // Texts with expressions are judged again when they are resolved.
    const own = new Problems()
    normaliseEvent(eventOf(input), own)
    for (const problem of own.found) problems.add(problem.path.replace('input', path), problem.message)
  },
  async run(viewer, { project, resolved, hops }) {
    const problems = new Problems()
    const event = resolvedEvent(resolved as TriggerInput, problems)
    if (problems.found.length > 0) return refuse(invalidInput(problems.found))
    const done = await pipelines.createEvent(viewer, { ...event, project, hops })
    return done.ok ? { ok: true, objectId: done.eventIds[0] ?? '' } : done
  },
  cancel: (viewer, id, reason) => pipelines.cancelEvent(viewer, { id, reason }),
})

const eventOf = ({ source, type, qualifiers, labels, payload }: TriggerInput): EventInput => ({
  source: String(source),
  type: String(type),
  qualifiers: (qualifiers ?? []) as readonly LabelInput[],
  labels: (labels ?? []) as readonly LabelInput[],
  payload: (payload ?? null) as string | null,
})

/** An expression yields any value of any length; a gateway has judged only the texts before it. */
function resolvedEvent({ source, type, qualifiers, labels, payload }: TriggerInput, problems: Problems): EventInput {
  const text = (value: unknown, path: string, { max }: { readonly max: number }): string => {
    const found = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
    if (typeof found === 'string' && found.length <= max) return found
    problems.add(path, typeof found === 'string' ? `is longer than ${max} characters` : 'is no text')
    return ''
  }
  const pairs = (list: unknown, path: string) =>
    ((list ?? []) as readonly LabelInput[]).map(({ key, value }, i) => ({
      key,
      value: text(value, `${path}.${i}.value`, LIMITS.labelValue),
    }))
  const isData = typeof payload === 'object' && payload !== null
  return {
    source: text(source, 'source', LIMITS.word),
    type: text(type, 'type', LIMITS.word),
    qualifiers: pairs(qualifiers, 'qualifiers'),
    labels: pairs(labels, 'labels'),
    payload:
      payload === null || payload === undefined
        ? null
        : text(isData ? JSON.stringify(payload) : payload, 'payload', LIMITS.payload),
  }
}
