import type { ChainEnd } from '../../core/audit.ts'
import { RIGHTS } from '../../core/rights.ts'
import { auditAnchor, auditHead, auditSince } from '../../store/audit.ts'
import { builder } from '../schema/builder.ts'

const AuditEndRef = builder.objectRef<ChainEnd>('AuditEnd').implement({
  description: 'A place in the chain of the audit.',
  fields: (t) => ({
    sequence: t.exposeFloat('sequence', { description: 'Place of the event; 0: before the first one.' }),
    hash: t.string({
      description: 'Hash of the event in hexadecimal digits; empty before the first one.',
      resolve: ({ hash }) => hash.toString('hex'),
    }),
  }),
})
interface AuditChain {
  readonly anchor: ChainEnd
  readonly since: Date | null
  readonly head: ChainEnd
}
const AuditChainRef = builder.objectRef<AuditChain>('AuditChain').implement({
  description:
    'The ends of the chain of the audit. A head stored elsewhere proves later that nothing before it was changed.',
  fields: (t) => ({
    anchor: t.expose('anchor', {
      type: AuditEndRef,
      description: 'The last event that retention has removed; the chain starts after it.',
    }),
    since: t.expose('since', {
      type: 'DateTime',
      nullable: true,
      description: 'When the oldest event happened that is kept; null if there is none.',
    }),
    head: t.expose('head', { type: AuditEndRef, description: 'The newest event.' }),
  }),
})

builder.queryField('auditChain', (t) =>
  t.field({
    right: RIGHTS.verifyAudit,
    type: AuditChainRef,
    nullable: true,
    description:
      'The ends of the chain of the audit, with everything that was committed before. Null only together with an entry in `errors`.',
    resolve: async (_, __, { pool, audit }) => {
      await audit.settle()
      const anchor = await auditAnchor(pool)
      return { anchor, since: await auditSince(pool), head: await auditHead(pool) }
    },
  }),
)
