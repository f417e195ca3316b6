import { installations } from '../../../cli/manifests/installations.ts'
import type { FamilyCli } from '../../define-family.ts'
import { addData } from './data.ts'
import { addDiff } from './diff.ts'
import { addImports } from './import/index.ts'
import { addPromote } from './promote.ts'
import { addReconcile } from './reconcile.ts'
import { addRollback } from './rollback.ts'
import { addRuns } from './runs.ts'
import { addTarget } from './target.ts'

export const cli: FamilyCli = {
  commands: [addReconcile, addRuns, addRollback, addPromote, addDiff, addData, addTarget, addImports],
  kinds: [installations],
}
