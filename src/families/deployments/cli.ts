import type { FamilyCli } from '../define-family.ts'
import { addData } from './cli/data.ts'
import { addDiff } from './cli/diff.ts'
import { addReconcile } from './cli/reconcile.ts'
import { addRollback } from './cli/rollback.ts'
import { addRuns } from './cli/runs.ts'

export const cli: FamilyCli = { commands: [addReconcile, addRuns, addRollback, addDiff, addData] }
