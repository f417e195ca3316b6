import { families } from '../../src/families/index.ts'
import { serve } from '../../src/serve.ts'
import { backups } from './index.ts'

/** `phaseline serve --no-example` with one family more. */
await serve({ example: false, families: [...families, backups] })
