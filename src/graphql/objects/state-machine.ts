import type { PhaseClass } from '../../core/machine.ts'
import { mermaid } from '../../core/mermaid.ts'
import type { Phase } from '../../core/vocabulary.ts'
import { builder } from '../schema/builder.ts'
import { ActorEnum, ObjectKindEnum, PhaseClassEnum, PhaseEnum } from '../schema/enums.ts'
import { StateMachineRef, TransitionRef } from '../schema/refs.ts'
import { VerbRef } from './verb.ts'

TransitionRef.implement({
  fields: (t) => ({
    machine: t.exposeString('machine'),
    from: t.expose('from', { type: PhaseEnum }),
    actor: t.expose('actor', { type: ActorEnum }),
    to: t.expose('to', { type: PhaseEnum }),
    reason: t.exposeString('reason'),
  }),
})

const ClassifiedPhaseRef = builder
  .objectRef<{ readonly phase: Phase; readonly class: PhaseClass }>('ClassifiedPhase')
  .implement({
    description: 'A phase of a state machine, and its class.',
    fields: (t) => ({
      phase: t.expose('phase', { type: PhaseEnum, description: 'The phase.' }),
      class: t.expose('class', { type: PhaseClassEnum, description: 'What the phase means to somebody who watches.' }),
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
    classes: t.field({
      type: [ClassifiedPhaseRef],
      description:
        'The class of each phase, in the order of `phases`. A phase has the same class in every machine, so a client can draw an object of a kind that it does not know.',
      resolve: ({ classes }) => [...classes].map(([phase, phaseClass]) => ({ phase, class: phaseClass })),
    }),
    verbs: t.field({
      type: [VerbRef],
      description: 'What a user may ask for of objects of these kinds, in the order in which a client shows it.',
      resolve: ({ verbs }) => [...verbs],
    }),
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
