import { runProcess } from '../../src/cli/run-process.ts'
import { families } from '../../src/families/index.ts'
import { backups } from './index.ts'

/** `phaseline`, server and command line, with one family more. */
await runProcess([...families, backups])
