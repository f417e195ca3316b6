import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'

/** Loaded before a program by `--import`: writes the address of each module that it loads into a file of RECORDED_MODULES. */
const file = join(process.env.RECORDED_MODULES ?? '', `${process.pid}`)
registerHooks({
  load(url, context, nextLoad) {
    appendFileSync(file, `${url}\n`)
    return nextLoad(url, context)
  },
})
