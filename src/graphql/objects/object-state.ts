import type { Machine } from '../../core/machine.ts'
import type { Phase } from '../../core/vocabulary.ts'
import { sideField, statusLoader } from '../loaders.ts'
import { builder } from '../schema/builder.ts'
import { FIRST_ENTRIES } from '../schema/descriptions.ts'
import { PhaseClassEnum, PhaseEnum } from '../schema/enums.ts'
import { BlockerRef, TransitionRef, TreeObjectRef } from '../schema/refs.ts'
import { blockersLoader, deadlinesLoader, isObjectFinished } from './object-lists.ts'
import { DeadlineRef, ObjectErrorRef, ProgressRef } from './object-parts.ts'
import { withPause } from './pause.ts'
import { deletionRequestedAt } from './pending-request.ts'

/** The state of an object; its place in the tree is in tree-object.ts. */
builder.interfaceFields(TreeObjectRef, (t) => ({
  phase: t.expose('phase', { type: PhaseEnum, description: 'Phase in the state machine of the kind.' }),
  phaseClass: t.field({
    type: PhaseClassEnum,
    description: 'The class of `phase`: its meaning for people, the same for all kinds.',
    resolve: ({ kind, phase }, _, { kinds }) => kinds.machinesOf(kind)[0]?.classes.get(phase) ?? 'ACTIVE',
  }),
  phaseSince: t.expose('phaseSince', { type: 'DateTime', description: 'When the object entered its phase.' }),
  finished: t.boolean({
    description:
      'True if nothing happens without a request: the object is in a final phase, with no job that runs or is still to begin, or the running or last job will not reach it (NotInJobBlocker).',
    resolve: (row, _, context) => isObjectFinished(context, row),
  }),
  generation: t.exposeInt('generation', { description: 'Counts the changes of the spec, from 1.' }),
  observedGeneration: t.exposeInt('observedGeneration', {
    description: 'Generation of the spec that the running or last job works with; 0 before the first job.',
  }),
  revision: t.exposeInt('revision', {
    description: 'Grows with every write to the object. A phase change has the revision that it made.',
  }),
  jobId: t.exposeID('jobId', {
    nullable: true,
    description:
      'Job, that is the run through the tree, that the object takes part in or took part in last; null before the first. The job runs while it differs from `finishedJobId`.',
  }),
  finishedJobId: t.exposeID('finishedJobId', {
    nullable: true,
    description: 'Last job that the object has finished; null before the first.',
  }),
  deletionRequestedAt: t.field({
    type: 'DateTime',
    nullable: true,
    description:
      'When the deletion of the object was requested, even if it waits for the running job; null if it is not to be deleted.',
    resolve: (row, _, context) => deletionRequestedAt(row, context),
  }),
  error: t.field({
    type: ObjectErrorRef,
    nullable: true,
    description:
      'Why the object is not in the phase that was wanted; null if nothing has failed. `blockedBy` has its blockers.',
    resolve: sideField(statusLoader, 'error', null),
  }),
  blockedBy: t.field({
    type: [BlockerRef],
    description:
      'The blockers of the object now, root cause first, or why the running or last job leaves it out; empty if it waits for nothing.',
    args: { first: t.arg.int({ required: true, defaultValue: 10, description: FIRST_ENTRIES }) },
    complexity: ({ first }) => ({ field: 5, multiplier: first }),
    resolve: async (row, { first }, context) =>
      (await withPause(context, row, await blockersLoader(context).load(row))).slice(0, Math.max(0, first)),
  }),
  deadlines: t.field({
    type: [DeadlineRef],
    description: 'Clocks that run for the object; empty if none does.',
    resolve: async (row, _, context) => [...(await deadlinesLoader(context).load(row))],
  }),
  allowedTransitions: t.field({
    type: [TransitionRef],
    description:
      'Transitions that the actor of the viewer may take from the present phase, of all state machines of the kind; empty if there is none.',
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
    description: 'How far the work has come, as its agent reported last; null if no agent has.',
    resolve: sideField(statusLoader, 'progress', null),
  }),
}))
