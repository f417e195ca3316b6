import type { ObjectRow } from '../../../core/tree.ts'
import { builder } from '../../../graphql/builder.ts'
import { pointingBlocker } from '../../../graphql/common-blockers.ts'
import { ObjectKindEnum, PhaseEnum } from '../../../graphql/enums.ts'
import { objectLoader } from '../../../graphql/loaders.ts'
import { NodeRef, TreeObjectRef } from '../../../graphql/refs.ts'
import type { ReportedObject, Session } from '../spec.ts'
import { cloudletLoader, driftedLoader, leaseLoader } from './loaders.ts'

export const CrmRoleEnum = builder.enumType('CrmRole', {
  values: {
    CRM: { description: 'Serves the cloudlet.' },
    CRM_V1: { description: 'The same, while an upgrade runs.' },
    CRM_V2: { description: 'Is brought up by an upgrade.' },
  } as const,
})

interface ConnectedCrm {
  readonly session: Session
  readonly leaseUntil: Date | null
}
const ConnectedCrmRef = builder.objectRef<ConnectedCrm>('ConnectedCrm').implement({
  description: 'A CRM process that serves the cloudlet, or is being brought up.',
  fields: (t) => ({
    role: t.field({ type: CrmRoleEnum, resolve: ({ session }) => session.role }),
    epoch: t.int({ resolve: ({ session }) => session.epoch }),
    instance: t.string({ resolve: ({ session }) => session.instance }),
    by: t.string({ description: 'The name of its token.', resolve: ({ session }) => session.principal }),
    version: t.string({ resolve: ({ session }) => session.version }),
    connectedAt: t.field({ type: 'DateTime', resolve: ({ session }) => new Date(session.connectedAt) }),
    leaseUntil: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Null: it has disconnected.',
      resolve: ({ leaseUntil }) => leaseUntil,
    }),
  }),
})

const CrmOrphanRef = builder.objectRef<ReportedObject>('CrmOrphan').implement({
  description: 'Something that the CRM has and nobody has asked for. Nothing is deleted by itself.',
  fields: (t) => ({
    kind: t.expose('kind', { type: ObjectKindEnum }),
    path: t.stringList({ resolve: ({ path }) => [...path] }),
    phase: t.expose('phase', { type: PhaseEnum }),
    specRevision: t.exposeInt('specRevision', { nullable: true }),
  }),
})

export const CloudletRef = builder.objectRef<ObjectRow>('Cloudlet').implement({
  description: 'An edge site whose instances a CRM keeps. Its phase is that of its connection.',
  interfaces: [NodeRef, TreeObjectRef],
  fields: (t) => ({
    upgradePhase: t.field({
      type: PhaseEnum,
      description: 'Of the machine cloudletUpgrade; READY when no upgrade runs.',
      resolve: async ({ id }, _, context) => (await cloudletLoader(context).load(id))?.upgradePhase ?? 'READY',
    }),
    epoch: t.int({
      description: 'Grows with every CRM process that connects; 0 before the first.',
      resolve: async ({ id }, _, context) => (await cloudletLoader(context).load(id))?.epoch ?? 0,
    }),
    version: t.string({
      nullable: true,
      description: 'Of the CRM that serves it, or did last.',
      resolve: async ({ id }, _, context) => (await cloudletLoader(context).load(id))?.version ?? null,
    }),
    wantedVersion: t.string({
      nullable: true,
      description: 'What the running upgrade is to bring.',
      resolve: async ({ id }, _, context) => (await cloudletLoader(context).load(id))?.wantedVersion ?? null,
    }),
    agents: t.field({
      type: [ConnectedCrmRef],
      description: 'Who is connected, or was last.',
      resolve: async ({ id }, _, context) => {
        const [facts, leases] = await Promise.all([cloudletLoader(context).load(id), leaseLoader(context).load(id)])
        return (facts?.sessions ?? []).map((session) => {
          const until = leases?.leases[session.epoch]
          return { session, leaseUntil: until ? new Date(until) : null }
        })
      },
    }),
    drifted: t.boolean({
      description: 'As of the last resync something beneath is not really as recorded.',
      resolve: async ({ id }, _, context) => (await driftedLoader(context).load(id)) !== null,
    }),
    driftedInstances: t.field({
      type: [TreeObjectRef],
      nullable: { list: false, items: true },
      description: 'Those that are not really as recorded.',
      args: { first: t.arg.int({ required: true, defaultValue: 100 }) },
      complexity: ({ first }) => ({ field: 1, multiplier: Math.min(1_000, first) }),
      resolve: async ({ id }, { first }, context) => {
        const ids = (await driftedLoader(context).load(id))?.ids ?? []
        return ids.slice(0, Math.max(0, first)).map((of) => objectLoader(context).load(of))
      },
    }),
    orphans: t.field({
      type: [CrmOrphanRef],
      description: 'What the CRM has and nobody has asked for, as of the last resync; at most 1,000.',
      args: { first: t.arg.int({ required: true, defaultValue: 100 }) },
      resolve: async ({ id }, { first }, context) =>
        ((await cloudletLoader(context).load(id))?.orphans ?? []).slice(0, Math.max(0, first)),
    }),
    resyncedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When a CRM last told all that it has.',
      resolve: async ({ id }, _, context) => (await cloudletLoader(context).load(id))?.resyncedAt ?? null,
    }),
  }),
})

pointingBlocker('CloudletBlocker', 'Its cloudlet is not connected.')
