import { runProcess } from '../../src/cli/run-process.ts'
import { deployments } from '../../src/families/deployments/index.ts'

/** `phaseline`, server and command line, with one family, which runs neither workers nor tasks. */
await runProcess([deployments])
