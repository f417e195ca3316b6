import type { PhaseClass } from '../../core/machine.ts'
import { mermaid } from '../../core/mermaid.ts'
import { RIGHTS } from '../../core/rights.ts'
import type { Phase } from '../../core/vocabulary.ts'
import { builder } from '../schema/builder.ts'
import { ActorEnum, ObjectKindEnum, PhaseClassEnum, PhaseEnum } from '../schema/enums.ts'
import { StateMachineRef, TransitionRef } from '../schema/refs.ts'
import { VerbRef } from './verb.ts'

TransitionRef.implement({
  description: 'A row of a state machine: this actor may move an object from one phase to another.',
  fields: (t) => ({
    machine: t.exposeString('machine', { description: 'Name of the state machine.' }),
    from: t.expose('from', { type: PhaseEnum, description: 'Phase in which the transition starts.' }),
    actor: t.expose('actor', { type: ActorEnum, description: 'The actor of the transition.' }),
    to: t.expose('to', {
      type: PhaseEnum,
      description: 'Phase in which the transition ends; GONE: the object is deleted.',
    }),
    reason: t.exposeString('reason', { description: 'Why the transition happens.' }),
  }),
})

const ClassifiedPhaseRef = builder
  .objectRef<{ readonly phase: Phase; readonly class: PhaseClass }>('ClassifiedPhase')
  .implement({
    description: 'A phase of a state machine, and its class.',
    fields: (t) => ({
      phase: t.expose('phase', { type: PhaseEnum, description: 'The phase.' }),
      class: t.expose('class', { type: PhaseClassEnum, description: 'Meaning of the phase for people.' }),
    }),
  })

StateMachineRef.implement({
  description: 'A lifecycle of objects. Every phase change is a row of a machine; all others are refused.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Unique name, e.g. deployItem.' }),
    kinds: t.field({
      type: [ObjectKindEnum],
      description: 'Kinds of objects that have this lifecycle. A kind may have a second machine.',
      resolve: (machine) => [...machine.kinds],
    }),
    phases: t.field({
      type: [PhaseEnum],
      description: 'All phases of the machine, without GONE.',
      resolve: (machine) => [...machine.phases],
    }),
    initial: t.expose('initial', { type: PhaseEnum, description: 'Phase of a new object.' }),
    final: t.field({
      type: [PhaseEnum],
      description: 'Phases in which nothing runs, and nothing happens until a request comes.',
      resolve: (machine) => [...machine.final],
    }),
    transitions: t.field({
      type: [TransitionRef],
      description: 'All rows of the machine.',
      resolve: (machine) => [...machine.transitions],
    }),
    classes: t.field({
      type: [ClassifiedPhaseRef],
      description:
        'The class of each phase, in the order of `phases`. A phase has the same class in every machine, so a client can draw an object of a kind that it does not know.',
      resolve: ({ classes }) => [...classes].map(([phase, phaseClass]) => ({ phase, class: phaseClass })),
    }),
    verbs: t.field({
      type: [VerbRef],
      description: 'The actions of users on objects of these kinds, in the order in which a client shows them.',
      resolve: ({ verbs }) => [...verbs],
    }),
    jobSpansTree: t.exposeBoolean('jobSpansTree', {
      description:
        'True if a job of a root of these kinds goes through its whole tree, so that objects with another `jobId` are not part of it.',
    }),
    mermaid: t.string({ description: 'The machine as Mermaid text (stateDiagram-v2).', resolve: mermaid }),
  }),
})

builder.queryField('stateMachines', (t) =>
  t.field({
    right: RIGHTS.readServer,
    type: [StateMachineRef],
    description: 'State machines of the kinds of objects.',
    args: {
      kind: t.arg({
        type: ObjectKindEnum,
        description: 'Kind whose machines are wanted. Left out or null: all machines.',
      }),
    },
    resolve: (_, { kind }, { kinds }) => (kind ? [...kinds.machinesOf(kind)] : [...kinds.machines]),
  }),
)
