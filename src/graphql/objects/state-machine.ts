import { mermaid } from '../../core/mermaid.ts'
import { builder } from '../schema/builder.ts'
import { ActorEnum, ObjectKindEnum, PhaseEnum } from '../schema/enums.ts'
import { StateMachineRef, TransitionRef } from '../schema/refs.ts'

TransitionRef.implement({
  fields: (t) => ({
    machine: t.exposeString('machine'),
    from: t.expose('from', { type: PhaseEnum }),
    actor: t.expose('actor', { type: ActorEnum }),
    to: t.expose('to', { type: PhaseEnum }),
    reason: t.exposeString('reason'),
  }),
})

StateMachineRef.implement({
  fields: (t) => ({
    name: t.exposeString('name'),
    kinds: t.field({ type: [ObjectKindEnum], resolve: (machine) => [...machine.kinds] }),
    phases: t.field({ type: [PhaseEnum], resolve: (machine) => [...machine.phases] }),
    initial: t.expose('initial', { type: PhaseEnum }),
    final: t.field({ type: [PhaseEnum], resolve: (machine) => [...machine.final] }),
    transitions: t.field({ type: [TransitionRef], resolve: (machine) => [...machine.transitions] }),
    mermaid: t.string({ description: 'A stateDiagram-v2 text.', resolve: mermaid }),
  }),
})

builder.queryField('stateMachines', (t) =>
  t.field({
    type: [StateMachineRef],
    args: { kind: t.arg({ type: ObjectKindEnum }) },
    resolve: (_, { kind }, { kinds }) => (kind ? [...kinds.machinesOf(kind)] : [...kinds.machines]),
  }),
)
