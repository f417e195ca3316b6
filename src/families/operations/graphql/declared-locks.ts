import { addReportFields } from '../../../graphql/agents/report-phases.ts'
import { builder } from '../../../graphql/schema/builder.ts'

/** Report fields that only gadget runners have. */

export const LockModeEnum = builder.enumType('LockMode', {
  description: 'How a lock is shared.',
  values: {
    SHARED: { description: 'Any number of jobs hold the lock together.' },
    EXCLUSIVE: { description: 'One job holds the lock alone.' },
  },
})
const LockInput = builder.inputType('LockInput', {
  description: 'A lock that a gadget needs.',
  fields: (t) => ({
    resource: t.string({ required: true, limit: 'lock', description: 'Name of the resource, not empty.' }),
    mode: t.field({ type: LockModeEnum, required: true, description: 'How the lock is shared.' }),
  }),
})

addReportFields((t) => ({
  locks: t.field({
    type: [LockInput],
    limit: 'locks',
    description: 'Locks that the gadget has declared, for GET_LOCKS only. Left out or null: none.',
  }),
}))
