import { objectLoader } from '../../../graphql/loaders.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { TreeObjectRef } from '../../../graphql/schema/refs.ts'
import { type DayRow, type FiringRow, OUTCOMES } from '../store/firings.ts'
import { words } from './words.ts'

const FiringOutcome = builder.enumType('FiringOutcome', {
  description: 'The outcome of a firing.',
  values: words(
    {
      PENDING: 'It is about to start something.',
      QUEUED: 'It waits for the end of what an earlier firing has started.',
      WAITING: 'It waits for its turn in a backfill.',
      FIRED: 'It has started something.',
      SKIPPED:
        'It has started nothing: `reason` is PAUSED, MISSED, OVERLAP, QUEUE_FULL, REPLACED, HELD, HAS_FIRED or CANCELLED.',
      REFUSED: 'Its start was refused; `reason` says why. It is not repeated.',
      FORBIDDEN: 'The last editor of the schedule lacks the right; `reason` says which.',
    },
    OUTCOMES,
  ),
})

const FiringRef = builder.objectRef<FiringRow>('Firing').implement({
  description: 'A time of a schedule that has come, or times that were skipped together.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unique and permanent.' }),
    due: t.expose('due', { type: 'DateTime', description: 'The time; of skipped ones the first.' }),
    lastDue: t.expose('lastDue', {
      type: 'DateTime',
      nullable: true,
      description: 'The last of the times that were skipped together; null if there is one.',
    }),
    times: t.exposeInt('count', {
      nullable: true,
      description: 'Number of times that were skipped together; 1 for a firing, null beyond a thousand.',
    }),
    at: t.expose('at', {
      type: 'DateTime',
      description: 'When it was noticed: the difference to `due` is its lateness.',
    }),
    byHand: t.boolean({
      description: 'True if somebody has asked for it with `fireSchedule`.',
      resolve: ({ cause, backfillId }) => cause !== 'TIME' && backfillId === null,
    }),
    outcome: t.expose('outcome', { type: FiringOutcome, description: 'Its outcome.' }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why it has started nothing; null if it has.' }),
    started: t.field({
      type: TreeObjectRef,
      nullable: true,
      description:
        'The root that it has started; null if there is none, if it is gone, or if the viewer may not read it.',
      resolve: ({ startedId }, _, context) => (startedId === null ? null : objectLoader(context).load(startedId)),
    }),
  }),
})
export const FiringConnection = builder.connectionObject({ name: 'FiringConnection', type: FiringRef }, {})

export const DayRef = builder.objectRef<DayRow>('ScheduleDay').implement({
  description: 'The firings of a day whose times lie on it.',
  fields: (t) => ({
    date: t.exposeString('date', { description: 'The day, such as `2026-01-31`.' }),
    fired: t.exposeInt('fired', { description: 'Number of times that have started something.' }),
    skipped: t.exposeInt('skipped', {
      description: 'Number of times that were skipped; those that were skipped together count on the first day.',
    }),
    refused: t.exposeInt('refused', { description: 'Number of times that were REFUSED or FORBIDDEN.' }),
    waiting: t.exposeInt('waiting', { description: 'Number of times that wait.' }),
  }),
})
