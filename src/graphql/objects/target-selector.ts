import { invalidInput, type RefusalOf } from '../../core/errors.ts'
import type { Outcome } from '../../core/ports/outcome.ts'
import { Problems } from '../../core/problems.ts'
import { type TargetSelectorInput as Given, readSelector, type TargetSelector } from '../../core/target.ts'
import { builder } from '../schema/builder.ts'
import { LabelInput } from './label-input.ts'
import { LabelRef } from './object-parts.ts'

export const TargetSelectorRef = builder.objectRef<TargetSelector>('TargetSelector').implement({
  description: 'Chooses targets by type and labels.',
  fields: (t) => ({
    type: t.exposeString('type', { nullable: true, description: 'Type that a target must have; null: any.' }),
    labels: t.field({
      type: [LabelRef],
      description: 'Labels that a target must have, and may have more; at most 64.',
      resolve: ({ labels }) => Object.entries(labels).map(([key, value]) => ({ key, value })),
    }),
  }),
})

export const TargetSelectorInput = builder.inputType('TargetSelectorInput', {
  description: 'Chooses targets by type and labels, of which it must have one.',
  fields: (t) => ({
    type: t.string({ limit: 'workType', description: 'Type that a target must have. Left out or null: any.' }),
    labels: t.field({
      type: [LabelInput],
      limit: 'labels',
      description: 'Labels that a target must have, and may have more. Left out or null: none.',
    }),
  }),
})

/** Null: there is none. */
export function selectorOf(
  given: Given | null | undefined,
  path: string,
): Outcome<{ readonly targetSelector: TargetSelector | null }, RefusalOf<'InvalidInputError'>> {
  if (!given) return { ok: true, targetSelector: null }
  const problems = new Problems()
  const targetSelector = readSelector(given, path, problems)
  return problems.found.length > 0 ? { ok: false, refusal: invalidInput(problems.found) } : { ok: true, targetSelector }
}
