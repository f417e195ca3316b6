import { RIGHTS } from '../../core/rights.ts'
import type { ObjectKind } from '../../core/vocabulary.ts'
import type { GraphQLFamily, KindDefinition } from '../family.ts'
import { builder } from '../schema/builder.ts'
import { ActorEnum, ObjectKindEnum } from '../schema/enums.ts'
import { StateMachineRef } from '../schema/refs.ts'

interface KindValue extends KindDefinition {
  readonly kind: ObjectKind
}

const KindRef = builder.objectRef<KindValue>('Kind').implement({
  description: 'A kind of objects, with the words that a client needs to show them.',
  fields: (t) => ({
    kind: t.expose('kind', { type: ObjectKindEnum, description: 'The kind.' }),
    noun: t.exposeString('noun', {
      description: 'The name of one of them for people, in lower case, such as `deploy item`.',
    }),
    type: t.exposeString('type', { description: 'The GraphQL type of its objects, which implements `TreeObject`.' }),
    agents: t.field({
      type: [ActorEnum],
      description: 'The actors whose agents work on its objects; empty if none does.',
      resolve: ({ agents }) => [...(agents ?? [])],
    }),
    stateMachines: t.field({
      type: [StateMachineRef],
      description: 'Its state machines; the first is that of `phase`.',
      resolve: ({ kind }, _, { kinds }) => [...kinds.machinesOf(kind)],
    }),
  }),
})

const FamilyRef = builder.objectRef<GraphQLFamily>('Family').implement({
  description: 'Kinds that belong together: their machines, rules and mutations.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Unique, in lower case.' }),
    title: t.exposeString('title', { description: 'Its name for people, such as a heading over its kinds.' }),
    kinds: t.field({
      type: [KindRef],
      description: 'Its kinds, the most important first.',
      resolve: ({ kinds }) => Object.entries(kinds).map(([kind, one]) => ({ kind: kind as ObjectKind, ...one })),
    }),
  }),
})

builder.queryField('families', (t) =>
  t.field({
    right: RIGHTS.readServer,
    type: [FamilyRef],
    description:
      'All kinds of objects that this server has, by family. With their state machines a client can list, draw and change objects of kinds that it was not written for.',
    resolve: (_, __, { kinds }) => [...kinds.families],
  }),
)
