import type { Machine } from '../../core/machine.ts'
import type { Phase } from '../../core/vocabulary.ts'
import { statusLoader } from '../loaders.ts'
import { builder } from '../schema/builder.ts'
import { PhaseClassEnum, PhaseEnum } from '../schema/enums.ts'
import { BlockerRef, TransitionRef, TreeObjectRef } from '../schema/refs.ts'
import { blockersLoader, deadlinesLoader, finishedLoader } from './object-lists.ts'
import { DeadlineRef, ObjectErrorRef, ProgressRef } from './object-parts.ts'

/** How an object is, beside where it stands. */
builder.interfaceFields(TreeObjectRef, (t) => ({
  phase: t.expose('phase', { type: PhaseEnum }),
  phaseClass: t.field({
    type: PhaseClassEnum,
    description: 'The class of `phase`: what it means to somebody who watches, whatever the kind.',
    resolve: ({ kind, phase }, _, { kinds }) => kinds.machinesOf(kind)[0]?.classes.get(phase) ?? 'ACTIVE',
  }),
  phaseSince: t.expose('phaseSince', { type: 'DateTime' }),
  finished: t.boolean({
    description: 'In a final phase of its machine, with no job outstanding.',
    resolve: (row, _, context) => context.kinds.isAtRest(row) && finishedLoader(context).load(row),
  }),
  generation: t.exposeInt('generation', { description: 'Counts changes of the spec, from 1.' }),
  observedGeneration: t.exposeInt('observedGeneration', {
    description: 'The generation that the last finished or running job took in.',
  }),
  revision: t.exposeInt('revision', {
    description: 'Grows with every write to the object; a phase change carries the revision that it made.',
  }),
  jobId: t.exposeID('jobId', { nullable: true }),
  finishedJobId: t.exposeID('finishedJobId', { nullable: true }),
  deletionRequestedAt: t.expose('deletionRequestedAt', { type: 'DateTime', nullable: true }),
  error: t.field({
    type: ObjectErrorRef,
    nullable: true,
    description: "Why the object is not in the phase that was wanted. Never used for 'still waiting': see blockedBy.",
    resolve: async ({ id }, _, context) => (await statusLoader(context).load(id))?.error ?? null,
  }),
  blockedBy: t.field({
    type: [BlockerRef],
    description: 'What exactly this object waits for right now, root cause first; empty when it waits for nothing.',
    args: { first: t.arg.int({ required: true, defaultValue: 10 }) },
    complexity: ({ first }) => ({ field: 5, multiplier: first }),
    resolve: async (row, { first }, context) => (await blockersLoader(context).load(row)).slice(0, Math.max(0, first)),
  }),
  deadlines: t.field({
    type: [DeadlineRef],
    description: 'The clocks that run for this object.',
    resolve: async (row, _, context) => [...(await deadlinesLoader(context).load(row))],
  }),
  allowedTransitions: t.field({
    type: [TransitionRef],
    description: 'The rows of the machine that the viewer may take from here.',
    resolve: async (object, _, context) => {
      const { kinds, viewer } = context
      const [own, ...secondary] = kinds.machinesOf(object.kind)
      const from = (at: Phase | null) => (machine: Machine | undefined) =>
        (machine?.transitions ?? []).filter((row) => row.from === at && row.actor === viewer.actor)
      const phase = secondary.length > 0 ? await kinds.familyOf(object.kind).secondaryPhase?.(context, object) : null
      return [...from(object.phase)(own), ...secondary.flatMap(from(phase ?? null))]
    },
  }),
  progress: t.field({
    type: ProgressRef,
    nullable: true,
    resolve: async ({ id }, _, context) => (await statusLoader(context).load(id))?.progress ?? null,
  }),
}))
