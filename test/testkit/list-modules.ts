import { registerHooks } from 'node:module'

/** Given to a process with `--import`: prints each module of OpenTelemetry that it loads. */
registerHooks({
  load(url, context, next) {
    if (url.includes('/@opentelemetry/')) process.stderr.write(`loaded: ${url}\n`)
    return next(url, context)
  },
})
