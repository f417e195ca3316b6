import type { FamilyCli } from '../define-family.ts'
import { addData } from './cli/data.ts'
import { addReconcile } from './cli/reconcile.ts'

export const cli: FamilyCli = { commands: [addReconcile, addData] }
