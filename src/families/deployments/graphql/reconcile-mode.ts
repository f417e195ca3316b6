import type { ReconcileMode } from '../../../core/vocabulary.ts'
import { builder } from '../../../graphql/schema/builder.ts'

const MEANINGS: Readonly<Record<ReconcileMode, { readonly description: string }>> = {
  STANDARD: { description: 'Every object runs again.' },
  IF_CHANGED: {
    description:
      'An object whose spec, imports and resolved config are those of its last success keeps its state, and its agent is not called.',
  },
  FORCE: {
    description:
      'Every object runs again, and neither a predecessor that has failed nor another root is waited for. Objects that run in this job are waited for, and imports must be satisfied. A deletion does not look for importers.',
  },
}

export const ReconcileModeEnum = builder.enumType('ReconcileMode', {
  description: 'How a job goes about a tree.',
  values: MEANINGS,
})
