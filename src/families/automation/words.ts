import type { FamilyWords } from '../../core/vocabulary.ts'

export const words: FamilyWords = {
  kinds: {
    SCHEDULE: 'Times at which something happens by itself.',
    BULK_OPERATION: 'One verb for many objects, each of which has its outcome.',
  },
  phases: {
    RUNNING: 'A bulk operation asks its targets.',
    ACTIVE: 'A schedule fires when its next time comes.',
    PAUSED: 'A schedule fires nothing until it is resumed. Times that pass are skipped.',
    FINISHED: 'A schedule has no further time: its end has passed, or its firings are used up.',
  },
}
