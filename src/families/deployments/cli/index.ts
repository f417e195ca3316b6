import type { FamilyCli } from '../../define-family.ts'
import { addData } from './data.ts'
import { addDiff } from './diff.ts'
import { addReconcile } from './reconcile.ts'
import { addRollback } from './rollback.ts'
import { addRuns } from './runs.ts'

export const cli: FamilyCli = { commands: [addReconcile, addRuns, addRollback, addDiff, addData] }
