import type { LimitRequest } from '../core/limit-request.ts'
import { builder } from '../graphql/schema/builder.ts'

/** Limits that specs ask for in the API, the same for all families. */

export const LimitRequestInput = builder.inputType('LimitRequestInput', {
  description: 'A limit that an object holds from its start to its end, and waits for before.',
  fields: (t) => ({
    limit: t.string({
      required: true,
      limit: 'reference',
      description: 'Name of the limit, or `project/name` of one that another project shares.',
    }),
    key: t.string({
      limit: 'limitKey',
      description:
        'Key whose bound applies besides that of all keys, such as a host. May hold expressions `${…}`: of a worker or a job over `event`, as `ref` of a clone; of a deploy item as its config. Left out or null: the empty one.',
    }),
    priority: t.int({
      description: 'From -100 to 100. The highest one that waits for the limit starts first. Left out or null: 0.',
    }),
  }),
})

export const LimitRequestRef = builder.objectRef<LimitRequest>('LimitRequest').implement({
  description: 'A limit that an object holds from its start to its end, and waits for before.',
  fields: (t) => ({
    limit: t.exposeString('limit', {
      description: 'Name of the limit, or `project/name` of one that another project shares.',
    }),
    key: t.exposeString('key', {
      description: 'Key whose bound applies besides that of all keys; empty: none is named.',
    }),
    priority: t.int({
      description: 'The highest one that waits for the limit starts first.',
      resolve: ({ priority = 0 }) => priority,
    }),
  }),
})
