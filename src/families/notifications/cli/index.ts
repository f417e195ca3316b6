import type { FamilyCli } from '../../define-family.ts'
import { rules } from './apply.ts'
import { addNotification } from './notification.ts'

export const cli: FamilyCli = { commands: [addNotification], kinds: [rules] }
