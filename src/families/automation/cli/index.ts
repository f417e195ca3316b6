import type { FamilyCli } from '../../define-family.ts'
import { schedules } from './apply.ts'
import { addAutomation } from './automation.ts'
import { addBulk } from './bulk.ts'
import { addSchedule } from './schedule.ts'

export const cli: FamilyCli = { commands: [addSchedule, addBulk, addAutomation], kinds: [schedules] }
