import { FIGURE_ROWS, FIGURE_TYPES, FIGURES, type FigureName, type Figures } from '../../core/ports/measured.ts'
import { RIGHTS } from '../../core/rights.ts'
import { builder } from '../schema/builder.ts'

/** The figures of metrics, for clients that show them to people. */

/** They have these labels, such as those of one type of work. */
interface Measured {
  readonly figures: Figures
  readonly labels: Readonly<Record<string, string>>
}
/** All that the fields below read. */
const shown = new Set<FigureName>()

/** Reads a figure, with these labels besides; null: it is missing. */
function figureOf(name: FigureName, more: Measured['labels'] = {}) {
  shown.add(name)
  return ({ figures, labels }: Measured): number | null => {
    const wanted = Object.entries({ ...labels, ...more })
    return figures[name]?.find((one) => wanted.every(([key, value]) => one.labels?.[key] === value))?.value ?? null
  }
}
/** A field with the figure; a missing one is 0. */
function count(name: FigureName, description: string = FIGURES[name].help, more?: Measured['labels']) {
  const value = figureOf(name, more)
  return { description, resolve: (measured: Measured) => value(measured) ?? 0 }
}
/** One for each value that the label of the figure has. */
function each(name: FigureName, label: string) {
  shown.add(name)
  return ({ figures }: Measured): Measured[] => {
    const values = new Set((figures[name] ?? []).flatMap(({ labels }) => labels?.[label] || []))
    return [...values].map((value) => ({ figures, labels: { [label]: value } }))
  }
}

const OpenWorkRef = builder.objectRef<Measured>('OpenWork').implement({
  description: `Open work of one type. At most ${FIGURE_ROWS.toLocaleString('en')} are counted in each state.`,
  fields: (t) => ({
    type: t.string({ description: 'Type of the work.', resolve: ({ labels }) => labels.type ?? '' }),
    offered: t.int(count('work', 'Work that waits for an agent.', { state: 'offered' })),
    deferred: t.int(count('work', 'Work that waits for the time of its next attempt.', { state: 'deferred' })),
    claimed: t.int(count('work', 'Work that an agent has.', { state: 'claimed' })),
    oldestSeconds: t.float({
      nullable: true,
      description: 'Seconds since the oldest offered work was triggered; null if none waits.',
      resolve: figureOf('work_oldest_seconds', { state: 'offered' }),
    }),
  }),
})
const byClock = figureOf('trees_due', { by: 'clock' })
const byWake = figureOf('trees_due', { by: 'wake' })
const DueTreesRef = builder.objectRef<Measured>('DueTrees').implement({
  description: 'Trees that the engine should have reconciled by now.',
  fields: (t) => ({
    due: t.int({
      description: 'Trees whose clock has run out, or that others have woken.',
      resolve: (all) => (byClock(all) ?? 0) + (byWake(all) ?? 0),
    }),
    oldestSeconds: t.float(
      count('trees_oldest_due_seconds', 'Seconds since the clock of the most overdue tree ran out; 0: none is due.'),
    ),
    failing: t.int(count('trees_failing')),
  }),
})
const SlotUseRef = builder.objectRef<Measured>('SlotUse').implement({
  description: 'Slots of one pool, for workers or for jobs.',
  fields: (t) => ({
    pool: t.string({ description: 'WORKER or JOB.', resolve: ({ labels }) => labels.pool ?? '' }),
    waiting: t.int(count('slots', 'Workloads that wait for a slot.', { state: 'waiting' })),
    holding: t.int(count('slots', 'Workloads that have one.', { state: 'holding' })),
    capacity: t.int(count('slots_capacity', 'Slots of the whole instance.')),
  }),
})
const ConnectedAgentsRef = builder.objectRef<Measured>('ConnectedAgents').implement({
  description: 'Agents of one actor that called within the last minute.',
  fields: (t) => ({
    actor: t.string({ description: 'As whom they move objects.', resolve: ({ labels }) => labels.actor ?? '' }),
    count: t.int(count('agents', 'Number of these agents.')),
  }),
})

const LoadRef = builder.objectRef<Measured>('Load').implement({
  description: 'The work that waits on the whole instance.',
  fields: (t) => ({
    complete: t.boolean({
      description:
        'False: the database has not answered all questions in time. A missing figure is 0, or its entry is missing.',
      resolve: ({ figures }) => [...shown].every((name) => figures[name]),
    }),
    work: t.field({
      type: [OpenWorkRef],
      description: `Open work by type; of more than ${FIGURE_TYPES} types and states those with the most.`,
      resolve: each('work', 'type'),
    }),
    trees: t.field({ type: DueTreesRef, description: 'Trees that wait for the engine.', resolve: (all) => all }),
    slots: t.field({ type: [SlotUseRef], description: 'Slots by pool.', resolve: each('slots_capacity', 'pool') }),
    waitingLocks: t.int(count('resource_locks_waiting')),
    agents: t.field({
      type: [ConnectedAgentsRef],
      description: 'Connected agents by actor.',
      resolve: each('agents', 'actor'),
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
    resolve: async (_, __, { figures }) => ({ figures: await figures(), labels: {} }),
  }),
)
