import { FIGURE_ROWS, FIGURE_TYPES, type Figure, type FigureName, type Figures } from '../../core/ports/measured.ts'
import { RIGHTS } from '../../core/rights.ts'
import { builder } from '../schema/builder.ts'

/** The figures of metrics, for clients that show them to people. */

const NAMES = [
  ...(['work', 'work_oldest_seconds', 'trees_due', 'trees_oldest_due_seconds', 'trees_failing'] as const),
  ...(['slots', 'slots_capacity', 'resource_locks_waiting', 'agents'] as const),
] satisfies readonly FigureName[]

/** Finds figures by their labels. */
class Found {
  readonly #figures: Figures
  constructor(figures: Figures) {
    this.#figures = figures
  }
  get isComplete(): boolean {
    return NAMES.every((name) => this.#figures[name])
  }
  of(name: FigureName, wanted: Figure['labels'] = {}): number | null {
    const found = this.#figures[name]?.find(({ labels }) =>
      Object.entries(wanted).every(([key, value]) => labels?.[key] === value),
    )
    return found?.value ?? null
  }
  count(name: FigureName, wanted?: Figure['labels']): number {
    return this.of(name, wanted) ?? 0
  }
  /** The different values of a label. */
  each(name: FigureName, label: string): readonly string[] {
    return [...new Set((this.#figures[name] ?? []).flatMap(({ labels }) => labels?.[label] || []))]
  }
}
interface Part {
  readonly found: Found
  readonly label: string
}

const OpenWorkRef = builder.objectRef<Part>('OpenWork').implement({
  description: `Open work of one type. At most ${FIGURE_ROWS.toLocaleString('en')} are counted in each state.`,
  fields: (t) => ({
    type: t.string({ description: 'Type of the work.', resolve: ({ label }) => label }),
    offered: t.int({
      description: 'Work that waits for an agent.',
      resolve: ({ found, label }) => found.count('work', { type: label, state: 'offered' }),
    }),
    deferred: t.int({
      description: 'Work that waits for the time of its next attempt.',
      resolve: ({ found, label }) => found.count('work', { type: label, state: 'deferred' }),
    }),
    claimed: t.int({
      description: 'Work that an agent has.',
      resolve: ({ found, label }) => found.count('work', { type: label, state: 'claimed' }),
    }),
    oldestSeconds: t.float({
      nullable: true,
      description: 'Seconds since the oldest offered work was triggered; null if none waits.',
      resolve: ({ found, label }) => found.of('work_oldest_seconds', { type: label, state: 'offered' }),
    }),
  }),
})
const DueTreesRef = builder.objectRef<Found>('DueTrees').implement({
  description: 'Trees that the engine should have reconciled by now.',
  fields: (t) => ({
    due: t.int({
      description: 'Trees whose clock has run out, or that others have woken.',
      resolve: (found) => found.count('trees_due', { by: 'clock' }) + found.count('trees_due', { by: 'wake' }),
    }),
    oldestSeconds: t.float({
      description: 'Seconds since the clock of the most overdue tree ran out; 0: none is due.',
      resolve: (found) => found.count('trees_oldest_due_seconds'),
    }),
    failing: t.int({
      description: 'Trees whose last reconcile has failed, so that they wait for a further attempt.',
      resolve: (found) => found.count('trees_failing'),
    }),
  }),
})
const SlotUseRef = builder.objectRef<Part>('SlotUse').implement({
  description: 'Slots of one pool, for workers or for jobs.',
  fields: (t) => ({
    pool: t.string({ description: 'WORKER or JOB.', resolve: ({ label }) => label }),
    waiting: t.int({
      description: 'Workloads that wait for a slot.',
      resolve: ({ found, label }) => found.count('slots', { pool: label, state: 'waiting' }),
    }),
    holding: t.int({
      description: 'Workloads that have one.',
      resolve: ({ found, label }) => found.count('slots', { pool: label, state: 'holding' }),
    }),
    capacity: t.int({
      description: 'Slots of the whole instance.',
      resolve: ({ found, label }) => found.count('slots_capacity', { pool: label }),
    }),
  }),
})
const ConnectedAgentsRef = builder.objectRef<Part>('ConnectedAgents').implement({
  description: 'Agents of one actor that called within the last minute.',
  fields: (t) => ({
    actor: t.string({ description: 'As whom they move objects.', resolve: ({ label }) => label }),
    count: t.int({
      description: 'Number of these agents.',
      resolve: ({ found, label }) => found.count('agents', { actor: label }),
    }),
  }),
})

const parts = (found: Found, name: FigureName, label: string): readonly Part[] =>
  found.each(name, label).map((value) => ({ found, label: value }))

const LoadRef = builder.objectRef<Found>('Load').implement({
  description: 'The work that waits on the whole instance.',
  fields: (t) => ({
    complete: t.boolean({
      description:
        'False: the database has not answered all questions in time. A missing figure is 0, or its entry is missing.',
      resolve: (found) => found.isComplete,
    }),
    work: t.field({
      type: [OpenWorkRef],
      description: `Open work by type; of more than ${FIGURE_TYPES} types and states those with the most.`,
      resolve: (found) => [...parts(found, 'work', 'type')],
    }),
    trees: t.field({ type: DueTreesRef, description: 'Trees that wait for the engine.', resolve: (found) => found }),
    slots: t.field({
      type: [SlotUseRef],
      description: 'Slots by pool.',
      resolve: (found) => [...parts(found, 'slots_capacity', 'pool')],
    }),
    waitingLocks: t.int({
      description: 'Tasks that wait for a lock of a resource.',
      resolve: (found) => found.count('resource_locks_waiting'),
    }),
    agents: t.field({
      type: [ConnectedAgentsRef],
      description: 'Connected agents by actor.',
      resolve: (found) => [...parts(found, 'agents', 'actor')],
    }),
  }),
})

builder.queryField('load', (t) =>
  t.field({
    right: RIGHTS.readMetrics,
    type: LoadRef,
    nullable: true,
    description:
      'How much work waits, of all projects: the figures of the metrics, which are at most five seconds old, so that reading them often costs the database little. Null only together with an entry in `errors`.',
    complexity: 20,
    resolve: async (_, __, { figures }) => new Found(await figures()),
  }),
)
