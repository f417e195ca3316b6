import type { FamilyCli } from '../../define-family.ts'
import { schedules } from './apply.ts'
import { addAutomation } from './automation.ts'
import { addBulk, showBulk } from './bulk.ts'
import { addSchedule, showSchedule } from './schedule.ts'

export const cli: FamilyCli = {
  commands: [addSchedule, addBulk, addAutomation],
  kinds: [schedules],
  shows: { SCHEDULE: showSchedule, BULK_OPERATION: showBulk },
}
